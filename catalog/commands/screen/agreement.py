"""`proofshelf screen agreement`."""

from pathlib import Path

import click
from rich.text import Text

from catalog import screening_queries
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, print_json, progress, say
from catalog.commands.screen.questions import chosen, label, rater_votes_table, warn
from catalog.commands.words import count
from catalog.screening_statistics import QuestionAgreement, agreement_of
from classifiers.agreement import AgreementTable, Coefficient


@click.command("agreement")
@click.argument("round_", metavar="ROUND")
@click.option("--category", help="One category, or `scope`; else scope and every category.")
@click.option("--by", type=click.Choice(["stratum"]), help="Each stratum too.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")
@click.option("--replicates", type=click.IntRange(100, 100_000), default=2000, show_default=True,
              help="Of the bootstrap.")  # fmt: skip
@database_option
@json_option
def command(
    round_: str, category: str | None, by: str | None, seed: int, replicates: int, db: Path, as_json: bool
) -> None:
    """Show how far raters agree, with counts.

    Percent agreement, Cohen, Fleiss, Krippendorff's alpha, AC1, PABAK and the Jaccard index of the
    positive sets, for the panel and each pair; raw, and weighted by the round's sample. A vote that
    isn't there, or says nothing, is missing and never a negative. Where positives are rare, kappa and
    percent agreement mislead: read the counts.

    \b
    Examples:
      proofshelf screen agreement pilot-screen
      proofshelf screen agreement pilot-screen --category trial --by stratum --seed 1 --json
    """
    with reading(db) as connection:
        view = screening_queries.round_view(connection, round_)
        tables = [screening_queries.rating_table(connection, round_, q) for q in chosen(view, category)]
    found = []
    with progress("Bootstrap") as step:
        for number, table in enumerate(tables):
            if step is not None:
                step(label(table.category), number, len(tables))
            found.append(agreement_of(table, seed, replicates, by_stratum=by is not None))
    if as_json:
        print_json({"round": round_, "seed": seed, "replicates": replicates, "questions": found})
        return
    for question in found:
        _show(question)
    say()
    say(f"Intervals: 95 % bootstrap, {replicates:,} replicates, seed {seed}; without finite population "
        "correction, so rather too wide.", style="dim")  # fmt: skip


def _show(found: QuestionAgreement) -> None:
    heading(label(found.category).capitalize())
    say(f"{found.rated:,} of {count(found.works, 'work')} with a vote.", indent=2)
    rater_votes_table(found.raters).show()
    warn(found.warnings)
    if found.report is None:
        say(f"No agreement: {found.undefined}.", indent=2)
        return
    kinds = {row.rater: row.kind for row in found.raters}
    for table in found.report.tables:
        _table(table, kinds)
    for note in found.report.notes:
        say(note, indent=2, style="dim")


def _table(table: AgreementTable, kinds: dict[str, str]) -> None:
    names = table.raters or ()
    who = "panel" if len(names) == len(kinds) else " and ".join(names)
    machines = [name for name in names if kinds[name] == "model"]
    facts = [who, "raw" if table.weighting == "raw" else "design-weighted"]
    if table.stratum is not None:
        facts.insert(0, f"stratum {table.stratum}")
    if machines:
        facts.append(f"machine: {', '.join(machines)}")
    say()
    say(" · ".join(facts), style="bold", indent=2)
    counts = table.counts
    pattern = ", ".join(f"{k} of {m} positive: {n:,}" for m, k, n in counts.by_positives)
    say(f"{counts.compared:,} works compared ({pattern}).", indent=4)
    rows = Table(
        (Column("measure"), Column("value", "decimal"), Column("95 % interval"), Column("se", "decimal"),
         Column("se from", prose=True)),
        indent=4,
    )  # fmt: skip
    for row in table.coefficients:
        rows.add(*_cells(row))
    rows.show()


def _cells(row: Coefficient) -> tuple[str | Text, ...]:
    if row.value is None:
        return (row.name, "undefined", row.undefined or "", "", "")
    interval = row.interval
    if interval is None or interval.low is None or interval.high is None:
        ends = "none" if interval is None or not interval.reason else f"none: {interval.reason}"
    else:
        ends = f"{interval.low:.4f} to {interval.high:.4f}"
    error = row.standard_error
    published = (f"{error.value:.4f}", error.source) if error.value is not None else ("", "")
    return (row.name, f"{row.value:.5f}", ends, *published)
