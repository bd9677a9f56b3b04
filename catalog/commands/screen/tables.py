"""Tables and words that several of these commands print."""

from collections.abc import Iterable, Sequence

from rich.text import Text

from catalog.commands.output import Column, Table
from catalog.screening_pages import CoverageRow, StratumView
from catalog.studies import DrawnStratum
from schema.states import ScreeningState, Status

KIND_WORDS = {"model": "machine", "human": "person"}
KIND_STYLES = {"model": "magenta", "human": "blue"}


def who_rated(name: str, kind: str) -> Text:
    """`ada [person]`, `rule [machine]`: a machine is never shown without the word."""
    return Text(f"{name} [{KIND_WORDS[kind]}]", style=KIND_STYLES[kind])


def statuses(given: Iterable[Status]) -> str:
    """Statuses as they are, or `no votes`."""
    return ", ".join(status.value for status in given) or "no votes"


def strata_table(strata: Sequence[DrawnStratum | StratumView]) -> Table:
    """Strata with N, n, inclusion probability and weight."""
    table = Table(
        (
            Column("stratum"),
            Column("N", "right"),
            Column("n", "right"),
            Column("probability", "decimal"),
            Column("weight", "decimal"),
        ),
        indent=2,
    )
    for row in strata:
        table.add(
            row.stratum,
            f"{row.frame_size:,}",
            f"{row.drawn:,}",
            f"{row.drawn / row.frame_size:.6g}",
            "none drawn" if row.weight is None else f"{row.weight:.10g}",
        )
    return table


def coverage_table(rows: Sequence[CoverageRow]) -> Table:
    """How far each rater is. Unusable votes stand in columns of their own, never among the negative."""
    table = Table(
        (
            Column("rater"),
            Column("status"),
            Column("voted", "right"),
            Column("of", "right"),
            Column("in scope", "right"),
            Column("out of scope", "right"),
            Column("insufficient", "right"),
            Column("unsure", "right"),
            Column("skipped", "right"),
            Column("chunks", "right"),
            Column("quarantined", "right"),
            Column("failed", "right"),
            Column("tokens in", "right"),
            Column("out", "right"),
            Column("cost", "decimal"),
        ),
        indent=2,
    )
    for row in rows:
        table.add(
            who_rated(row.rater.id, row.rater.kind),
            row.status.value,
            *(f"{n:,}" for n in (row.voted, row.works, row.in_scope, row.out_of_scope,
                                 row.insufficient_payload, row.unsure)),
            *(f"{n:,}" if n else "" for n in (row.skipped,)),
            f"{row.chunks_done:,}/{row.chunks:,}" if row.chunks else "",
            *(f"{n:,}" if n else "" for n in (row.quarantined, row.failed)),
            *("" if n is None else f"{n:,}" for n in (row.input_tokens, row.output_tokens)),
            row.cost,
        )  # fmt: skip
    return table


def states_line(states: Iterable[tuple[ScreeningState, int]]) -> str:
    """`12 agreed positive, 3 contested`; states that no work has are left out."""
    return ", ".join(f"{n:,} {state.value.replace('_', ' ')}" for state, n in states if n) or "none"
