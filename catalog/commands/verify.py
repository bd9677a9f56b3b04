"""`proofshelf verify`."""

from pathlib import Path
from typing import Any

import click

from artifacts.manifest import MANIFEST_NAME
from artifacts.package import open_package
from artifacts.verify import verify_package
from catalog import queries
from catalog.code_version import code_version
from catalog.commands.claims import show_caveats, show_claims, show_files, show_sources
from catalog.commands.errors import PROGRAM
from catalog.commands.library import reading, who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import heading, note, print_json, progress, say
from catalog.commands.show_package import title, verdict
from catalog.commands.tables import runs_table
from catalog.commands.words import count
from catalog.lookup import NotFound
from catalog.pages import VerificationPage
from catalog.run_views import run_views
from catalog.store import Catalog, CatalogError
from schema.artifact import Manifest
from schema.states import RunOutcome, worst_outcome
from schema.verification import Level, Verification


@click.command("verify")
@click.argument("target", metavar="ID|FOLDER", required=False)
@click.option("--all", "everything", is_flag=True, help="Verify every package of the catalog.")
@click.option(
    "--level",
    type=click.Choice(["hash", "reaggregate", "recompute"]),
    default="recompute",
    show_default=True,
    help="How deep to go: the bytes only; numbers from saved outputs too; from primary inputs too.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the verdict only.")
@database_option
@json_option
def command(target: str | None, everything: bool, level: Level, quiet: bool, db: Path, as_json: bool) -> int:
    """Compute a package's numbers again.

    ID is a package, or a work and so all its packages: they are verified at their newest version from
    the catalog's stored files, and each run is recorded. FOLDER (or an archive) is verified where it
    is, without a catalog, and nothing is recorded; ./NAME always means the folder.

    For each claim: whether its number comes out, from what (saved outputs or primary inputs), and
    whether a second implementation agrees. Exit code 0 verified, 3 failed, 4 incomplete (always so with
    --level hash, which computes nothing); of several packages, the worst.

    \b
    Examples:
      proofshelf verify gavel-allocation
      proofshelf verify ./my-package
      proofshelf verify tias --quiet
      proofshelf verify --all --level hash
    """
    context = click.get_current_context()
    if everything == (target is not None):
        raise click.UsageError(
            "expected an ID, a FOLDER or --all" + (", and only one" if target else ""), context
        )
    if target is not None and _means_folder(target, db, context):
        return _folder(Path(target), level, quiet, as_json)
    with writing(db) as catalog:
        pages = [verify_stored(catalog, slug, level) for slug in _slugs(catalog, target)]
        if as_json:
            print_json({"outcome": worst_outcome(p.run.outcome for p in pages), "verifications": pages})
        elif everything:
            _show_table(catalog, pages)
        else:
            for number, page in enumerate(pages):
                if number:
                    say()
                show_run(page.manifest, page.run, page, quiet)
            if not pages:
                say(f"{target} has no package, so there is nothing to verify. Next: proofshelf add PACKAGE")
    return worst_outcome(page.run.outcome for page in pages).exit_code


def verify_stored(catalog: Catalog, slug: str, level: Level) -> VerificationPage:
    """Verify a package from the store; the run is recorded whole, or not at all."""
    with progress(f"Verifying {slug}") as step:
        number, _ = catalog.verify_artifact(slug, level=level, who=who(), progress=step)
    return queries.verification(catalog.connection, number)


def show_run(
    manifest: Manifest, run: Verification, page: VerificationPage | None, quiet: bool = False
) -> None:
    """Print a run: its claims, its files, its verdict last, where the eye comes to rest."""
    seen = page or run_views(manifest, run)
    if not quiet:
        title(manifest, page.version if page else None)
        show_caveats(manifest)
        heading("Claims")
        show_claims(seen.claims)
        if seen.sources:
            heading("Sources")
            show_sources(seen.sources)
        heading("Files")
        show_files(seen.files)
        say()
    verdict(run, page.id if page else None)
    if run.counts.findings and not quiet:
        where = f"proofshelf show {manifest.id}" if page else "--json has them"
        say(f"The reasons of the findings: {where}", style="dim")


def _folder(path: Path, level: Level, quiet: bool, as_json: bool) -> int:
    version, commit = code_version()
    with open_package(path) as package, progress(f"Verifying {path}") as step:
        run = verify_package(
            package.root, package.manifest, package.manifest_sha256,
            level=level, who=who(), origin="folder", code_version=version, git_commit=commit,
            progress=step,
        )  # fmt: skip
    if as_json:
        seen = run_views(package.manifest, run)
        facts: dict[str, Any] = {"path": path, "recorded": False, "outcome": run.outcome, "run": run,
                                 "manifest": package.manifest, "claims": seen.claims, "files": seen.files,
                                 "sources": seen.sources}  # fmt: skip
        print_json(facts)
    else:
        show_run(package.manifest, run, None, quiet)
        if not quiet:
            say(f"Nothing was recorded: {path} was verified where it is.", style="dim")
    return run.outcome.exit_code


def _means_folder(target: str, db: Path, context: click.Context) -> bool:
    """Whether a target is a place on disk. What is both a folder here and an id there is the folder,
    unless the command names its catalog with --db; a note says so either way."""
    path = Path(target)
    if "/" in target or path.is_absolute() or target in (".", ".."):
        return True
    if not path.is_file() and not (path / MANIFEST_NAME).exists():
        return False
    if not db.exists() or not _known(db, target):
        return True
    named = any(c.params.get("db") and _given(c) for c in (context, context.find_root()))
    if named:
        note(f"{PROGRAM}: {target} of the catalog {db} is meant, not the folder; ./{target} means the folder")
        return False
    note(f"{PROGRAM}: the folder {target} is meant; --db {db} means {target} of that catalog")
    return True


def _given(context: click.Context) -> bool:
    return context.get_parameter_source("db") is click.core.ParameterSource.COMMANDLINE


def _known(db: Path, name: str) -> bool:
    try:
        with reading(db) as connection:
            queries.resolve(connection, name)
    except (CatalogError, NotFound):
        return False
    return True


def _slugs(catalog: Catalog, target: str | None) -> list[str]:
    if target is None:
        return sorted(package.slug for package in queries.artifacts(catalog.connection))
    if queries.resolve(catalog.connection, target) == "package":
        return [target]
    return sorted(package.slug for package in queries.work(catalog.connection, target).artifacts)


def _show_table(catalog: Catalog, pages: list[VerificationPage]) -> None:
    if not pages:
        say("No packages yet: proofshelf add PACKAGE")
        return
    numbers = {page.id for page in pages}
    runs_table([r for r in queries.runs(catalog.connection, limit=len(pages)) if r.id in numbers]).show()
    say()
    outcomes = [page.run.outcome for page in pages]
    parts = [f"{outcomes.count(o):,} {o.value}" for o in RunOutcome if o in outcomes]
    say(f"{count(len(pages), 'package')}: {', '.join(parts)}.")
