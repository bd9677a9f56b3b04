"""The check of a log of decisions, from its first line to its last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.check.findings import Finding, Kind
from scheduling_core.queueing.check.given import Machines, jobs_of, machines_of
from scheduling_core.queueing.check.log import ACTIONS, Line, read_log
from scheduling_core.queueing.check.places import Holdings
from scheduling_core.queueing.check.replay import Account
from scheduling_core.queueing.check.report import Report, figures_of


def check(
    log_text: str,
    jobs: Sequence[Mapping[str, Any]],
    nodes: Sequence[tuple[int, str]],
    placement: str = "count",
    *,
    unit: Fraction = Fraction(1),
    restarts: Mapping[str, int] | None = None,
) -> Report:
    """Replay a log and say what is wrong with it, and what follows from it.

    log_text : CSV with time, job, action, place. jobs : {id, submit, gpus, duration, deadline, gpu_type}, the
    last two where there are any. nodes : (GPUs, type) in order. placement : count, spread or consolidated.
    unit : seconds of a tick. restarts : by job id, ticks that each resumption costs before work goes on; what
    a preemption cuts short is due again in whole. All times are whole ticks of the log.

    The log isn't judged on which job it serves: that is its policy's. A log in which restarts are charged at
    every event, as Muri's simulator does, isn't one of these.

    Raises
    ------
    SchedulingError : for jobs, nodes, a rule or costs that describe nothing; never for the log.
    """
    if unit <= 0:
        raise SchedulingError(f"A tick of {unit} s, expected more than 0.")
    machines = machines_of(nodes, placement)
    accounts = {name: Account(job) for name, job in jobs_of(jobs, restarts or {}).items()}
    found = _replay(log_text, accounts, Holdings(machines))
    held, refused = _parted(accounts, machines)
    for account in held:
        found += account.lost()
    times = tuple(account.times() for account in held)
    return Report(tuple(found), figures_of(times, machines.gpus, unit), times, tuple(refused))


def _replay(text: str, accounts: Mapping[str, Account], holdings: Holdings) -> list[Finding]:
    found: list[Finding] = []
    before: Line | None = None
    for line in read_log(text, found):
        found += _sequence_faults(before, line)
        before = line
        account = accounts.get(line.job)
        if account is None:
            sentence = f"At {line.time} job {line.job}: there is no such job."
            found.append(Finding(Kind.UNKNOWN_JOB, line.job, line.time, sentence))
            continue
        account.named = True
        if line.action in ("end", "preempt"):
            gives_back, faults = account.stop(line)
            if gives_back:
                holdings.give_back(account.job)
        else:
            takes, faults = account.begin(line)
            if takes:
                faults += holdings.take(account.job, line)
        found += faults
    return found


def _sequence_faults(before: Line | None, line: Line) -> list[Finding]:
    if before is None or line.time > before.time:
        return []
    if line.time < before.time:
        sentence = (
            f"At {line.time} job {line.job}: the line above is at {before.time}, expected rising times."
        )
        return [Finding(Kind.BACKWARDS, line.job, line.time, sentence)]
    if ACTIONS.index(line.action) < ACTIONS.index(before.action):
        sentence = (
            f"At {line.time} job {line.job}: its {line.action} stands after a {before.action}, "
            f"expected {', '.join(ACTIONS)} at one time."
        )
        return [Finding(Kind.ORDER, line.job, line.time, sentence)]
    return []


def _parted(accounts: Mapping[str, Account], machines: Machines) -> tuple[list[Account], list[str]]:
    """The jobs that must run, and the ids of those that can't and don't."""
    held, refused = [], []
    for name, account in accounts.items():
        if account.named or machines.can_hold(account.job):
            held.append(account)
        else:
            refused.append(name)
    return held, refused
