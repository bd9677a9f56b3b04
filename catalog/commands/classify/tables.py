"""Tables and words that several of these commands print."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from catalog.commands.output import Column, Table, heading, say

if TYPE_CHECKING:
    from classifiers.metrics.summary import Metrics
    from classifiers.student import TrainedHead

VERDICTS = {True: "passed", False: "not passed", None: "not known, which isn't passed"}


def heads_table(heads: Sequence["TrainedHead"]) -> Table:
    """Each head: support, calibration, and figures out of fold."""
    table = Table((
        Column("head"), Column("category"), Column("positives", "right"), Column("effective", "decimal"),
        Column("calibration"), Column("AP", "decimal"), Column("Brier skill", "decimal"),
        Column("slope", "decimal"), Column("intercept", "decimal"),
    ), indent=2)  # fmt: skip
    for head in heads:
        found = head.calibration
        method: str = head.availability if found is None else found.status
        if method == "available":
            method = "none" if found is None or found.choice is None else str(found.choice.method)
        reason = head.reason or (found.reason if found is not None else None)
        table.add(
            head.name.side, head.name.category, f"{head.counts.positives:,}",
            "" if found is None else f"{found.support.effective_positives:.1f}", method,
            *_figures(None if found is None else found.after),
            notes=() if reason is None else (reason,),
        )  # fmt: skip
    return table


def _figures(measured: "Metrics | None") -> tuple[str, str, str, str]:
    if measured is None:
        return ("", "", "", "")
    line = measured.line
    slope, intercept = ("undefined" if e is None else f"{e.value:.2f}" for e in (line.slope, line.intercept))
    return (f"{measured.average_precision.value:.3f}", f"{measured.brier_skill.value:.3f}", slope, intercept)


def gate_lines(gate: Mapping[str, Any]) -> None:
    """Both verdicts with their reasons; the one that decides is named."""
    heading(f"Maturity gate ({gate['gate']} decides)")
    for verdict in gate["verdicts"]:
        say(f"{verdict['gate']}: {VERDICTS[verdict['passed']]}", indent=2)
        for condition in verdict["conditions"]:
            state = {True: "holds", False: "fails", None: "unknown"}[condition["passed"]]
            say(f"{state}: {condition['name']}: {condition['sentence']}", indent=4)
