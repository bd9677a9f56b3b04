"""`proofshelf classify decide`."""

from collections import Counter
from pathlib import Path

import click

from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, print_json, say
from catalog.commands.words import count
from schema.scores import Quota


@click.command("decide")
@click.argument("release")
@click.option("--round", "round_", metavar="ROUND",
              help="Whose votes give the rates: one with a drawn sample, or with every work.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Show the quotas and calls; record nothing.")
@database_option
@json_option
def command(release: str, round_: str | None, dry_run: bool, db: Path, as_json: bool) -> None:
    """Call each head's highest-ranked works, by its rater's rate.

    k = round(rate x covered works), by row rank. A category calls only where every head of it has 20
    positives of an effective size of 10; else it is unsupported. Candidate is the union of the heads,
    consensus their intersection. A call is a machine's, unvalidated, and never a label.

    \b
    Examples:
      proofshelf classify decide synthetic-r1
      proofshelf classify decide synthetic-r1 --round synthetic-abstracts --dry-run --json
    """
    from catalog.training.calls import decide

    with writing(db) as catalog:
        decided = decide(catalog.connection, release, round_)
        new = False if dry_run else catalog.record_decisions(decided.run, decided.rows, who())
    run = decided.run
    sides = Counter((category, len(heads)) for _, category, heads in decided.rows)
    by_category = {
        c: [q for q in run.quotas if q.category == c] for c in dict.fromkeys(q.category for q in run.quotas)
    }
    counts = {
        category: {
            "candidate": sum(n for (c, _), n in sides.items() if c == category),
            "consensus": sides[category, len(quotas)] if len(quotas) > 1 else 0,
        }
        for category, quotas in by_category.items()
        if all(q.k is not None for q in quotas)
    }
    if as_json:
        print_json({
            "run": run, "new": new, "recorded": not dry_run, "counts": counts, "warnings": decided.warnings,
        })  # fmt: skip
        return
    table = Table((
        Column("category"), Column("head"), Column("positives", "right"), Column("effective", "decimal"),
        Column("rate", "decimal"), Column("k", "right"), Column("k by the rate's 95 % interval"),
        Column("calls"),
    ), indent=2)  # fmt: skip
    for category, quotas in by_category.items():
        found = counts.get(category)
        calls = "unsupported: no calls" if found is None else (
            f"{found['candidate']:,} candidate, {found['consensus']:,} of them consensus"
        )  # fmt: skip
        for number, q in enumerate(quotas):
            table.add(
                category if number == 0 else "", q.head, f"{q.positives:,}", f"{q.ess_positives:.1f}",
                f"{q.rate:.5f}", "none" if q.k is None else f"{q.k:,}",
                _between(q), calls if number == 0 else "",
            )  # fmt: skip
    calls_made = count(len(decided.rows), "call")
    did = "Would record" if dry_run else ("Recorded" if new else "Here already, unchanged:")
    say(f"{did} {run.id}: {calls_made} over {run.covered:,} of {count(run.works, 'work')}.")
    table.show()
    for warning in decided.warnings:
        say(warning, indent=2)
    say(
        f"Status of every call: {run.status}. {run.note[:1].upper()}{run.note[1:]}."
        if run.note
        else run.status
    )


def _between(quota: Quota) -> str:
    if quota.k is None:
        return ""
    if quota.k_low is None or quota.k_high is None:
        return "no interval"
    return f"{quota.k_low:,} to {quota.k_high:,}"
