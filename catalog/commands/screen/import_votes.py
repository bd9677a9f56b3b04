"""`proofshelf screen import-votes`."""

from pathlib import Path
from typing import get_args

import click

from catalog.ballots import Published, VotesReport
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, progress, say
from catalog.commands.words import count
from schema.screening import Instrument, RaterKind

_PUBLISHED_NEEDS = ("title", "source", "name", "kind")


@click.command("import-votes")
@click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--round", "round_", metavar="ROUND", help="A round taken here; of --published: its name.")
@click.option("--rater", help="Whose votes they are, where the file has no column `rater`.")
@click.option("--supersede", metavar="REASON", help="Correct votes that are here already, for this reason.")
@click.option("--published", metavar="STUDY", help="Labels made elsewhere, as a study of this name.")
@click.option("--title", help="Of --published: the study's title.")
@click.option("--source", help="Of --published: where the labels are from.")
@click.option("--name", help="Of --published: who decided, as the source says (`unknown` if it doesn't).")
@click.option("--kind", type=click.Choice(get_args(RaterKind)), help="Of --published: a person or a model.")
@click.option("--version", help="Of --published: the model's version.")
@click.option("--instrument", type=click.Choice(get_args(Instrument)), help="Of --published: what was read.")
@click.option("--panel", type=click.IntRange(1), help="Of --published: raters for each work, all files.")
@click.option("--column", help="Of --published: the column with the labels, where there are several.")
@click.option("--licence", help="Of --published: the labels' licence.")
@click.option("--note", help="Of --published: what else a reader has to know.")
@database_option
@json_option
def command(
    path: Path, round_: str | None, rater: str | None, supersede: str | None, published: str | None,
    title: str | None, source: str | None, name: str | None, kind: RaterKind | None, version: str | None,
    instrument: Instrument | None, panel: int | None, column: str | None, licence: str | None,
    note: str | None, db: Path, as_json: bool,
) -> int:  # fmt: skip
    """Take votes in from a CSV, JSON or JSONL file.

    Into a round that was designed here: chunk by chunk, each taken whole or kept in quarantine. With
    --published: labels from elsewhere, row by row, into a round of their own, as what their source says
    they are. Rows of unknown works are kept in quarantine with their line, and the rest goes in.

    Exit code 1: some of it was not taken.

    \b
    Examples:
      proofshelf screen import-votes votes.csv --round pilot-screen --rater ben
      proofshelf screen import-votes labels.csv --published menon --title Menon --kind human \\
        --rater menon-authors --name "the authors of the review" --source "SYNERGY, CC0"
    """
    given = {"title": title, "source": source, "name": name, "kind": kind, "version": version,
             "instrument": instrument, "panel": panel, "column": column, "licence": licence,
             "note": note}  # fmt: skip
    if published is None:
        stray = [key for key, value in given.items() if value is not None]
        if stray:
            raise click.UsageError(f"--{stray[0]} goes with --published")
        if round_ is None:
            raise click.UsageError("say which --round, or with --published which study they are from")
    else:
        missing = [key for key in _PUBLISHED_NEEDS if given[key] is None] + ["rater"] * (rater is None)
        if missing:
            raise click.UsageError(f"--published needs --{missing[0]} too")
    labels = None
    if published is not None:
        assert title is not None and source is not None and name is not None  # noqa: PT018 - checked above
        assert kind is not None and rater is not None  # noqa: PT018
        labels = Published(
            published, title, source, rater, name, kind, round_, version, instrument or "unknown",
            panel or 1, licence, note, column,
        )  # fmt: skip
    with writing(db) as catalog, progress(f"Reading {path.name}"):
        report = catalog.import_votes(
            path, None if labels else round_, None if labels else rater, labels, supersede, who()
        )
    if as_json:
        print_json(report)
    else:
        _show(report)
    return 1 if report.refused or report.problems else 0


def _show(report: VotesReport) -> None:
    say(f"{report.round}: {count(report.read, 'row')} read: {report.taken:,} taken, "
        f"{report.unchanged:,} unchanged, {report.refused:,} in quarantine.")  # fmt: skip
    if report.chunks:
        say(f"Chunks: {', '.join(f'{number:,} {state}' for state, number in report.chunks.items())}.")
    for text in report.problems:
        say(text, style="yellow", indent=2)
    for text in report.notes:
        say(f"note: {text}", indent=2)
    say(f"File sha256 {report.sha256}.", style="dim")
