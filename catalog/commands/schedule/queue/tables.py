"""How a run of policies is shown: one table, oracles apart, and what its figures are over."""

from collections.abc import Mapping, Sequence
from typing import Any

from catalog.commands.output import Column, Table, say
from catalog.commands.words import count

COLUMNS = (
    Column("policy"),
    Column("misses", "right"),
    Column("miss rate", "decimal"),
    Column("non-deadline JCT, s", "decimal"),
    Column("mean JCT, s", "decimal"),
    Column("95 % JCT, s", "decimal"),
    Column("utilisation", "decimal"),
    Column("fragmented", "decimal"),
    Column("preemptions", "right"),
    Column("makespan, s", "decimal"),
)
NAMED = 5
"""Refused jobs that are named on the terminal; `--json` and result.json have them all."""


def show(result: Mapping[str, Any]) -> None:
    """Heading, table, and what must be known to read it."""
    _show_heading(result)
    table = Table(COLUMNS, indent=2)
    plain = [policy for policy in result["policies"] if not policy["oracle"]]
    oracles = [policy for policy in result["policies"] if policy["oracle"]]
    for policy in plain:
        table.add(policy["name"], *_cells(policy["figures"]))
    if oracles:
        table.add("oracles, which read durations:", *[None] * (len(COLUMNS) - 1))
    for policy in oracles:
        table.add(f"{policy['name']} (oracle)", *_cells(policy["figures"]))
    table.show()
    _show_beneath(result)


def _show_heading(result: Mapping[str, Any]) -> None:
    trace, cluster = result["trace"], result["cluster"]
    say(trace["name"], style="bold")
    load = "unknown" if trace["offered_load"] is None else f"{trace['offered_load']:.3f}"
    nodes = ", ".join(_nodes(node) for node in cluster["nodes"])
    say(f"{count(trace['jobs'], 'job')}, {trace['deadline_jobs']:,} with a deadline; "
        f"{count(cluster['gpus'], 'GPU')} ({nodes}), placed by {cluster['placement']}; offered load {load}; "
        f"{result['restart']}.", indent=2)  # fmt: skip
    for sentence in trace["notes"]:
        say(sentence, indent=2)
    for reason in list(result["refused"].values())[:NAMED]:
        say(f"Left out: {reason}.", indent=2)
    if len(result["refused"]) > NAMED:
        say(f"Left out: {len(result['refused']) - NAMED:,} more jobs that the cluster can never hold.",
            indent=2)  # fmt: skip
    if trace["rejected"]:
        say(f"Set aside: {count(len(trace['rejected']), 'bad record')}.", indent=2)


def _nodes(node: Mapping[str, Any]) -> str:
    kind = "" if node["gpu_type"] == "gpu" else f":{node['gpu_type']}"
    return f"{node['count']}x{node['gpus']}{kind}"


def _cells(figures: Mapping[str, Any]) -> Sequence[str]:
    """The cells of a policy's row; unknown where a figure is over no jobs, or the policy gave none."""
    if not figures:
        return ("unknown",) * (len(COLUMNS) - 1)
    misses, late = figures["deadline_misses"], figures["deadline_misses"]["value"]
    return (
        "unknown" if late is None else f"{late:,} of {misses['over']:,}",
        _share(figures["deadline_miss_rate"]),
        *(_seconds(figures[name]) for name in ("non_deadline_jct_mean", "jct_mean", "jct_p95")),
        _share(figures["utilisation"]), _share(figures["fragmentation"]),
        f"{figures['preemptions']['value']:,}", _seconds(figures["makespan"]),
    )  # fmt: skip


def _seconds(figure: Mapping[str, Any]) -> str:
    return "unknown" if figure["value"] is None else f"{figure['value']:,.3f}"


def _share(figure: Mapping[str, Any]) -> str:
    return "unknown" if figure["value"] is None else f"{100 * figure['value']:.1f} %"


def _show_beneath(result: Mapping[str, Any]) -> None:
    ran = [policy for policy in result["policies"] if policy["figures"]]
    for policy in result["policies"]:
        if policy["error"] is not None:
            say(f"{policy['name']} gave no outcome: {policy['error']}", indent=2)
    figures = ran[0]["figures"]
    others, every = figures["non_deadline_jct_mean"]["over"], figures["jct_mean"]["over"]
    say(
        f"Non-deadline JCT is over {count(others, 'job')} without a deadline, other JCTs over "
        f"{count(every, 'job')}; 95 % is the nearest rank. An end at the deadline is no miss.",
        indent=2,
    )
    for source, names in _reconstructions(ran).items():
        say(f"{', '.join(names)}: {source}.", indent=2)
    logs = "decision log" if len(ran) == 1 else f"{len(ran)} decision logs"
    say(
        f"The checker accepted the {logs}, and derived every job's times again from nothing else; only "
        "fragmentation is the simulator's alone.",
        indent=2,
    )


def _reconstructions(policies: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Of policies that stand for one that isn't public: what is said of them, and which they are."""
    found: dict[str, list[str]] = {}
    for policy in policies:
        if policy["reconstruction"]:
            found.setdefault(policy["source"], []).append(policy["name"])
    return found
