"""`proofshelf classify evaluate`."""

from pathlib import Path

import click

from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, print_json, say
from catalog.commands.screen.tables import who_rated
from catalog.commands.words import count


@click.command("evaluate")
@click.argument("release")
@click.option("--round", "round_", required=True, metavar="ROUND", help="Whose votes it is compared with.")
@click.option("--rater", metavar="RATER", help="Only this rater's votes.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the bootstrap.")
@database_option
@json_option
def command(release: str, round_: str, rater: str | None, seed: int, db: Path, as_json: bool) -> None:
    """Compare a release's scores with votes it didn't learn from.

    A validation by people, say.
    Works that it learned from are left out and counted. Where votes are a machine's, the figures are
    agreement with that machine.

    \b
    Examples:
      proofshelf classify evaluate synthetic-r1 --round synthetic-validation
      proofshelf classify evaluate synthetic-r1 --round synthetic-validation --rater ann --json
    """
    from catalog.training.evaluation import evaluate

    with reading(db) as connection:
        found = evaluate(connection, release, round_, rater, seed)
    if as_json:
        print_json({"release": release, "round": round_, "seed": seed, "heads": found})
        return
    for row in found:
        heading(f"{row.head} for {row.category}")
        say(who_rated(row.rater, row.rater_kind), indent=2, bullet="against ")
        say(f"{count(row.support.records, 'work')}, {row.support.positives:,} positive ({row.status.value}); "
            f"not in any figure: {row.left_out:,} that it learned from, {row.unknown:,} whose vote says "
            f"nothing, {row.unscored:,} without a score.", indent=2)  # fmt: skip
        if row.metrics is None:
            say(f"No figures: {row.state.replace('_', ' ')}.", indent=2)
            continue
        table = Table((Column("figure"), Column("value", "decimal"), Column("95 % interval")), indent=2)
        m = row.metrics
        for name, interval in (
            ("average precision", m.average_precision), ("ROC area", m.roc_auc),
            ("Brier skill against the base rate", m.brier_skill), ("log loss", m.log_loss),
            ("calibration slope", m.line.slope), ("calibration intercept", m.line.intercept),
        ):  # fmt: skip
            if interval is None:
                table.add(name, "undefined")
                continue
            ends = "none" if interval.low is None or interval.high is None else (
                f"{interval.low:.4f} to {interval.high:.4f}"
            )  # fmt: skip
            table.add(name, f"{interval.value:.4f}", ends)
        table.show()
