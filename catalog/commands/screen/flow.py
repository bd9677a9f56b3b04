"""`proofshelf screen flow`."""

import json
from pathlib import Path
from typing import get_args

import click

from catalog import screening_queries
from catalog.commands.errors import Refused
from catalog.commands.files import free, replacing, replacing_bytes
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, plain, print_json, say
from catalog.commands.screen.tables import statuses
from catalog.prisma import diagram, to_png
from catalog.screening_pages import FlowCounts, FlowStage
from schema.states import Estimand

ENDINGS = (".svg", ".png", ".json")


@click.command("flow")
@click.argument("study")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.svg|.png|.json",
              help="Write the diagram, or the counts.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@click.option("--round", "rounds", multiple=True, metavar="ROUND", help="Only these rounds, in this order.")
@click.option("--estimand", type=click.Choice(get_args(Estimand)), default="majority", show_default=True,
              help="How a panel's votes decide, where nobody adjudicated.")  # fmt: skip
@database_option
@json_option
def command(
    study: str, to: Path | None, force: bool, rounds: tuple[str, ...], estimand: Estimand, db: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Count a study's flow as PRISMA 2020 asks, and draw it.

    Works that wait for a vote, and those of which no decision came, have boxes of their own: neither is
    an exclusion. Decisions that machines made are named as such.

    \b
    Examples:
      proofshelf screen flow pilot
      proofshelf screen flow pilot --to flow.svg --force
    """
    if to is not None:
        if to.suffix.lower() not in ENDINGS:
            raise Refused(f"{to}: expected a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        free(to, force)
    with reading(db) as connection:
        counts = screening_queries.flow_counts(connection, study, estimand, rounds or None)
        title = screening_queries.study_page(connection, study).title
    if to is not None:
        _write(counts, title, to)
    if as_json:
        print_json({"title": title, "flow": counts, "path": to})
        return
    _show(counts, title)
    if to is not None:
        say(f"Wrote {to}.")


def _write(counts: FlowCounts, title: str, to: Path) -> None:
    if to.suffix.lower() == ".png":
        picture = to_png(diagram(counts, title))
        with replacing_bytes(to) as binary:
            binary.write(picture)
        return
    with replacing(to) as stream:
        if to.suffix.lower() == ".svg":
            stream.write(diagram(counts, title))
        else:
            json.dump(plain(counts), stream, indent=2, ensure_ascii=False, allow_nan=False)
            stream.write("\n")


def _show(counts: FlowCounts, title: str) -> None:
    say(f"{title}: flow of records (PRISMA 2020)", style="bold")
    if counts.synthetic:
        say("Synthetic: made up, to try things out.", style="bold yellow")
    table = _counts_table()
    table.add("identified", f"{counts.identified:,}")
    for source in counts.sources:
        table.add(f"  {source.source}", f"{source.records:,}")
    table.add("duplicates removed", f"{counts.duplicates:,}")
    table.add("could not be read", f"{counts.unreadable:,}")
    table.add("works", f"{counts.works:,}")
    table.show(titles=False)
    for stage in counts.stages:
        _stage(stage)


def _stage(stage: FlowStage) -> None:
    heading(f"{stage.round}: {stage.title}")
    decided = f"decided by {stage.estimand} of votes by {stage.votes.replace('none', 'nobody yet')}"
    say(f"instrument: {stage.instrument}; {decided}; status: {statuses(stage.statuses)}", indent=2)
    table = _counts_table()
    for name in ("selected", "not_selected", "screened", "awaiting", "included", "excluded"):
        table.add(name.replace("_", " "), f"{getattr(stage, name):,}")
    for reason, number in stage.reasons:
        table.add(f"  {reason}", f"{number:,}")
    table.add("unresolved", f"{stage.unresolved:,}")
    table.add("adjudicated", f"{stage.adjudicated:,}")
    table.show(titles=False)


def _counts_table() -> Table:
    return Table((Column("records"), Column("number", "right")), indent=2)
