"""What came of a run as plain values: what `--json` prints, what is shown, and the files of its folder."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from catalog.commands.schedule.queue.policies import Chosen
from catalog.commands.schedule.traces.reading import described, load, rejected_json

if TYPE_CHECKING:
    from scheduling_core.queueing.book import Entry
    from scheduling_core.queueing.cluster import Cluster
    from scheduling_core.queueing.formats import Import
    from scheduling_core.queueing.jobs import Trace
    from scheduling_core.queueing.outcome import Outcome


def result_of(
    found: "Import", trace: "Trace", cluster: "Cluster", restart: str, policies: Sequence[Chosen],
    entries: "Sequence[Entry]",
) -> dict[str, Any]:  # fmt: skip
    """All that is told of a run. Figures are None where they are over nothing, and so unknown."""
    from scheduling_core.queueing.definitions import DEFINITIONS

    ran = next((entry.outcome for entry in entries if entry.outcome is not None), None)
    return {
        "trace": {
            **described(trace), "format": found.format, "notes": _notes(found, trace),
            "rejected": rejected_json(found), "offered_load": load(trace, cluster.gpus),
        },
        "cluster": cluster_row(cluster), "restart": restart,
        "refused": {} if ran is None else dict(ran.refused),
        "policies": [
            _policy(chosen, entry, folder)
            for chosen, entry, folder in zip(policies, entries, folders(policies), strict=True)
        ],
        "definitions": {name: definition._asdict() for name, definition in DEFINITIONS.items()},
    }  # fmt: skip


def cluster_row(cluster: "Cluster") -> dict[str, Any]:
    """A cluster as plain values: equal nodes that follow each other together."""
    return {
        "gpus": cluster.gpus, "placement": cluster.placement.value,
        "nodes": [
            {"count": len(list(nodes)), "gpus": node.gpus, "gpu_type": node.gpu_type}
            for node, nodes in groupby(cluster.nodes)
        ],
    }  # fmt: skip


def folders(policies: Sequence[Chosen]) -> list[str]:
    """The folder of each policy's records: its place and its name, since options are no file names."""
    return [f"{number:02d}-{_plain(chosen.name)}" for number, chosen in enumerate(policies, 1)]


def job_rows(outcome: "Outcome") -> list[dict[str, Any]]:
    """A row for each job that ran, times in seconds; the log of decisions has them in exact ticks."""

    def seconds(ticks: int) -> float | int:
        exact = ticks * outcome.unit
        return exact.numerator if exact.denominator == 1 else float(exact)

    columns = (
        outcome.submit, outcome.duration, outcome.first_start, outcome.end, outcome.executed, outcome.paid,
        outcome.preemptions, outcome.restarts,
    )  # fmt: skip
    rows = []
    for job, *numbers in zip(outcome.trace.jobs, *(column.tolist() for column in columns), strict=True):
        submit, duration, first, end, executed, paid, preemptions, restarts = numbers
        due = None if job.deadline is None else int(job.deadline * outcome.trace.tick / outcome.unit)
        rows.append({
            "job": job.id, "gpus": job.gpus, "submit_s": seconds(submit), "duration_s": seconds(duration),
            "deadline_s": None if due is None else seconds(due), "first_start_s": seconds(first),
            "end_s": seconds(end), "jct_s": seconds(end - submit),
            "queueing_s": seconds(end - submit - executed), "held_s": seconds(executed),
            "restart_s": seconds(paid), "preemptions": preemptions, "restarts": restarts,
            "missed": None if due is None else ("yes" if end > due else "no"),
        })  # fmt: skip
    return rows


def comparison_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each policy, every figure in a column of its own; empty where it is unknown."""
    return [
        {
            "name": policy["name"], "oracle": "yes" if policy["oracle"] else "no", "error": policy["error"],
            "decisions_sha256": policy["decisions_sha256"],
            **{name: (policy["figures"].get(name) or {}).get("value") for name in result["definitions"]},
        }
        for policy in result["policies"]
    ]  # fmt: skip


def charts_of(policies: Sequence[Chosen], entries: "Sequence[Entry]") -> dict[str, Any]:
    """Every chart of the outcomes that there are."""
    from scheduling_core.queueing.charts import (
        gantt_chart,
        jct_chart,
        over_time_chart,
        trade_off,
        trade_off_chart,
        wait_chart,
    )

    outcomes, points = {}, []
    gantts = {}
    for chosen, entry, folder in zip(policies, entries, folders(policies), strict=True):
        if entry.outcome is None or entry.metrics is None:
            continue
        outcomes[chosen.label] = entry.outcome
        points.append(trade_off(chosen.label, entry.metrics))
        gantts[f"jobs-by-gpu-{folder}"] = gantt_chart(entry.outcome)
    known = any(point.miss_rate is not None and point.jct is not None for point in points)
    return {
        "job-completion-time": jct_chart(outcomes), "queueing-time": wait_chart(outcomes),
        "utilisation": over_time_chart(outcomes), **gantts,
        **({"trade-off": trade_off_chart(points)} if known else {}),
    }  # fmt: skip


def _policy(chosen: Chosen, entry: "Entry", folder: str) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    if entry.metrics is not None:
        figures = {
            name: {
                "value": figure.plain, "exact": None if figure.value is None else str(figure.value),
                "over": _number(figure.over),
            }
            for name, figure in entry.metrics.figures.items()
        }  # fmt: skip
    ran = entry.outcome
    return {
        "name": chosen.label, "policy": chosen.name, "options": chosen.plain_options(),
        "oracle": chosen.oracle, "source": chosen.source, "reconstruction": chosen.reconstruction,
        "error": entry.error, "figures": figures,
        "folder": None if ran is None else folder,
        "decisions": 0 if ran is None or ran.decisions is None else len(ran.decisions),
        "decisions_sha256": None if ran is None else entry.log_sha256,
        "tick_seconds": None if ran is None else str(ran.unit),
    }  # fmt: skip


def _notes(found: "Import", trace: "Trace") -> list[str]:
    """Of the reading and of what was done to the trace since, each once."""
    return list(dict.fromkeys([*found.notes, *trace.notes]))


def _number(value: Fraction) -> float | int:
    return value.numerator if value.denominator == 1 else float(value)


def _plain(name: str) -> str:
    """A name that any file system takes."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)
