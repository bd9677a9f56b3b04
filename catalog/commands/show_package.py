"""A package's page and a verification's page on a terminal: verdict, caveats, claims, files, history."""

from catalog.commands import words
from catalog.commands.claims import show_caveats, show_claims, show_files, show_sources
from catalog.commands.output import Column, Table, heading, say
from catalog.commands.tables import runs_table
from catalog.pages import ArtifactPage, RunSummary, VerificationPage
from schema.artifact import Manifest
from schema.verification import Verification


def show_package(page: ArtifactPage) -> None:
    """Print one package at one version, as its newest run saw it."""
    manifest = page.manifest
    title(manifest, page.version)
    if len(page.versions) > 1:
        others = ", ".join(str(v) for v in page.versions if v != page.version)
        say(f"Other versions: {others} (proofshelf show {manifest.id} --version N)")
    say(f"Licence {manifest.licence} · added {words.moment(page.added_at)} by {page.added_by} · manifest "
        f"{page.manifest_sha256}", style="dim")  # fmt: skip
    say()
    if page.latest is None:
        say(f"Never verified: proofshelf verify {manifest.id}", style="bold yellow")
    else:
        verdict(page.latest, page.latest.id)
    if manifest.description:
        heading("Description")
        say(manifest.description, indent=2)
    show_caveats(manifest)
    heading("Claims")
    show_claims(page.claims, explain=True)
    _sources_and_files(page)
    if page.history:
        heading("History")
        runs_table(page.history).show()


def show_verification(page: VerificationPage) -> None:
    """Print one run as it can be cited."""
    title(page.manifest, page.version)
    say()
    verdict(page.run, page.id)
    show_caveats(page.manifest)
    heading("Claims")
    show_claims(page.claims, explain=True)
    _sources_and_files(page)
    heading("This run")
    run = page.run
    commit = f", commit {run.git_commit}" if run.git_commit else ""
    place = run.environment
    facts = {
        "number": str(page.id),
        "hash": page.hash,
        "previous": page.previous,
        "manifest": run.manifest_sha256,
        "when": f"{run.started_at} to {run.finished_at}",
        "who": run.who,
        "with": f"proofshelf {run.code_version}{commit}",
        "level": f"{run.level}, from the {run.origin}",
        "seeds": ", ".join(f"{name} {seed}" for name, seed in run.seeds.items()) or "none used",
        "on": f"Python {place.python}, SQLite {place.sqlite}, {place.platform} {place.machine}",
        "packages": ", ".join(f"{name} {version}" for name, version in sorted(place.packages.items())),
    }
    table = Table((Column(""), Column("", prose=True)), indent=2)
    for name, value in facts.items():
        table.add(name, value)
    table.show(titles=False)


def title(manifest: Manifest, version: int | None) -> None:
    """Name the package, its version and its work."""
    say(manifest.title, style="bold")
    at = f", version {version}" if version else ""
    say(f"{manifest.id}{at} · of the work {manifest.work.id}: {manifest.work.title}")


def verdict(run: Verification | RunSummary, number: int | None = None) -> None:
    """Print what a run found in a sentence or two, and where to find it again."""
    say(run.verdict, style=words.RUN_STYLES[run.outcome])
    if number is not None:
        where = f"proofshelf show verification {number}"
        say(f"Run {number}, {words.moment(run.finished_at)}: {where}", style="dim")


def _sources_and_files(page: ArtifactPage | VerificationPage) -> None:
    if page.sources:
        heading("Sources")
        show_sources(page.sources)
    heading("Files")
    show_files(page.files, every=True)
