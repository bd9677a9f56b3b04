"""`proofshelf demo`."""

import os
import shutil
import sys
from contextlib import ExitStack
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import click

from catalog.commands.add import add_package, sentence
from catalog.commands.init import ensure
from catalog.commands.library import who, writing
from catalog.commands.options import json_option
from catalog.commands.output import heading, print_json, progress, say
from catalog.commands.show_package import verdict
from catalog.commands.verify import verify_stored
from catalog.store import Catalog
from schema.states import RunOutcome

# The bundled packages, and what an honest run says of each.
PACKAGES = {
    "gavel-allocation": RunOutcome.VERIFIED,
    "screening-metacan": RunOutcome.VERIFIED,
    "tias-record": RunOutcome.INCOMPLETE,
    "tias-like-tradeoff": RunOutcome.VERIFIED,
}
# The made-up study: big enough for two categories with support and one without.
SYNTHETIC = {"seed": 7, "works": 1200, "french": 100, "other": 300}

INCOMPLETE = (
    "Incomplete is the honest word: these numbers are kept as they were published, and nothing here can "
    "compute them again, so none is confirmed and none is denied."
)


@click.command("demo")
@click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default="proofshelf-demo",
    show_default=True,
    help="Where the catalog goes.",
)
@json_option
def command(folder: Path, as_json: bool) -> int:
    """Make a catalog with the bundled packages, and verify them.

    A made-up screening study comes with them; it is synthetic and says so everywhere. Its works are
    imported, sampled and rated by rules, a classifier is trained and calibrated, and its release is
    verified like any package. The catalog is always DIR/proofshelf.db, whatever --db and $PROOFSHELF_DB
    say, so that no catalog of yours is touched. Running it again adds nothing twice and records more runs.

    Exit code 0 when the runs come out as they should: all verified but the screening record, which is
    incomplete because nothing can recompute its numbers.

    \b
    Examples:
      proofshelf demo
      proofshelf demo --dir shelf
    """
    folder.mkdir(parents=True, exist_ok=True)
    db = folder / "proofshelf.db"
    created = ensure(db)
    done: list[dict[str, Any]] = []
    pages = []
    if not as_json:
        say(f"{'Created' if created else 'Using'} the catalog {db}.")
    with ExitStack() as stack:
        catalog = stack.enter_context(writing(db))
        for name in PACKAGES:
            facts = add_package(catalog, stack.enter_context(as_file(files("artifacts.packages") / name)))
            facts.pop("path")
            if not as_json:
                say(sentence(facts))
            page = verify_stored(catalog, name, "recompute")
            pages.append(page)
            done.append({**facts, "verification": page.id, "run": page.run})
        study = _synthetic(catalog, quiet=as_json)
        pages.append(verify_stored(catalog, study["release"], "recompute"))
    expected = {**PACKAGES, study["release"]: RunOutcome.VERIFIED}
    unexpected = [page.run.outcome for page in pages if page.run.outcome is not expected[page.run.artifact]]
    if as_json:
        print_json(
            {
                "database": db,
                "created": created,
                "as_expected": not unexpected,
                "packages": done,
                "study": {**study, "verification": pages[-1].id, "run": pages[-1].run},
                "next": _next(db),
            }
        )
    else:
        for page in pages:
            heading(page.manifest.title)
            verdict(page.run, page.id)
            if page.run.outcome is RunOutcome.INCOMPLETE:
                say(INCOMPLETE)
        heading("Next")
        for line in _next(db):
            say(line, indent=2)
    if not unexpected:
        return 0
    return RunOutcome.INCOMPLETE.exit_code if set(unexpected) == {RunOutcome.INCOMPLETE} else 3


def _synthetic(catalog: Catalog, quiet: bool) -> dict[str, Any]:
    """Put the made-up study in, train on it, score and call; what was there is left as it is."""
    from catalog.training.calls import decide
    from catalog.training.scoring import score_catalog
    from catalog.training.synthetic import add_synthetic_study
    from catalog.training.train import Choices, train_release
    from classifiers.student import Parameters

    with progress("Synthetic study") as step:
        made = add_synthetic_study(catalog, who=who(), **SYNTHETIC)
        choices = Choices(parameters=Parameters(replicates=100), seed=SYNTHETIC["seed"])
        trained = train_release(catalog, made.study, choices, who(), step)
        scored = score_catalog(catalog, trained.release.id, who(), 1, step)
        decided = decide(catalog.connection, trained.release.id)
        catalog.record_decisions(decided.run, decided.rows, who())
    if not quiet:
        say(
            f"Made up a screening study, {made.study}: {made.works:,} works, {made.sampled:,} of them "
            "sampled and rated by two rules."
        )
        say(
            f"Trained {trained.release.id}, which scored {scored.scored:,} works and made "
            f"{len(decided.rows):,} calls ({decided.run.status})."
        )
    return {
        "study": made.study, "round": made.round, "works": made.works, "sampled": made.sampled,
        "votes": made.votes, "release": trained.release.id, "status": trained.release.status,
        "scored": scored.scored, "decisions": decided.run.id, "calls": len(decided.rows),
    }  # fmt: skip


def _next(db: Path) -> list[str]:
    program = _program()
    return [
        f"{program} --db {db} verify gavel-allocation",
        f"{program} --db {db} show tias",
        f"{program} --db {db} classify report synthetic-r1",
        f"{program} --db {db} browse",
    ]


def _program() -> str:
    """The command as this shell finds it: by name where it is on the PATH, else by its path."""
    called = Path(sys.argv[0])
    found = shutil.which("proofshelf")
    if called.name != "proofshelf" or (found is not None and called.resolve() == Path(found).resolve()):
        return "proofshelf"
    return os.path.relpath(called)
