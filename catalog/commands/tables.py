"""Lists that more than one command prints: works, packages, runs."""

from collections.abc import Sequence

from rich.text import Text

from catalog.commands import words
from catalog.commands.output import Column, Table
from catalog.pages import ArtifactSummary, RunSummary, WorkSummary


def works_table(works: Sequence[WorkSummary]) -> Table:
    """Works, one a line."""
    columns = (
        Column("work"),
        Column("year"),
        Column("title", prose=True),
        Column("authors", prose=True),
        Column("packages", "right"),
        Column("votes", "right"),
        Column("scores", "right"),
    )
    table = Table(columns)
    for work in works:
        authors = work.authors[0] + (" et al." if len(work.authors) > 1 else "") if work.authors else ""
        numbers = (f"{n:,}" if n else "" for n in (work.artifacts, work.votes, work.scores))
        table.add(work.slug, str(work.year or ""), work.title, authors, *numbers)
    return table


def artifacts_table(artifacts: Sequence[ArtifactSummary]) -> Table:
    """Packages with their newest verdict, one a line."""
    columns = (
        Column("verdict"),
        Column("package"),
        Column("version", "right"),
        Column("claims", "right"),
        Column("findings", "right"),
        Column("files", "right"),
        Column("work"),
        Column("verified"),
        Column("title", prose=True),
    )
    table = Table(columns, indent=0)
    for package in artifacts:
        run = package.latest
        table.add(
            Text(run.outcome.value, style=words.RUN_STYLES[run.outcome]) if run else "never verified",
            package.slug,
            str(package.version),
            f"{package.claims:,}",
            f"{package.findings:,}" if package.findings else "",
            f"{package.files:,}",
            package.work,
            words.moment(run.finished_at) if run else "",
            package.title,
        )
    return table


def runs_table(runs: Sequence[RunSummary]) -> Table:
    """Verification runs, one a line, each with its verdict beneath."""
    columns = (
        Column("run", "right"),
        Column("verdict"),
        Column("depth"),
        Column("package"),
        Column("version", "right"),
        Column("level"),
        Column("finished"),
        Column("by"),
    )
    table = Table(columns)
    for run in runs:
        table.add(
            str(run.id),
            Text(run.outcome.value, style=words.RUN_STYLES[run.outcome]),
            words.depth(run.depth),
            run.artifact,
            str(run.version),
            run.level,
            words.moment(run.finished_at),
            run.who,
        )
    return table
