"""One job's part of a log, from line to line: what it holds, has done and has paid."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling_core.queueing.check.findings import Finding, Kind
from scheduling_core.queueing.check.given import Given
from scheduling_core.queueing.check.log import Line
from scheduling_core.queueing.check.report import JobTimes


@dataclass
class Account:
    """A job under replay. since : when it got the GPUs that it holds; done : ticks of work; closed : ended,
    by a line that may be wrong."""

    job: Given
    since: int | None = None
    toll: int = 0
    start: int | None = None
    end: int | None = None
    executed: int = 0
    done: int = 0
    paid: int = 0
    preemptions: int = 0
    restarts: int = 0
    named: bool = False
    closed: bool = False

    @property
    def due(self) -> int | None:
        """When it ends if it goes on: what its restart costs in whole, then the work that is left."""
        return None if self.since is None else self.since + self.toll + self.job.duration - self.done

    def begin(self, line: Line) -> tuple[bool, list[Finding]]:
        """Start or resume; whether it gets GPUs by it, and what is wrong."""
        found = []
        first = line.action == "start"
        if self.since is not None or self.closed:
            state = "has ended" if self.closed else f"holds its GPUs since {self.since}"
            kind = Kind.STARTED_TWICE if first else Kind.NOT_PREEMPTED
            return False, [self._fault(kind, line, f"it is given GPUs, but {state}")]
        if first and self.start is not None:
            what = f"it starts a second time, after {self.start}"
            found.append(self._fault(Kind.STARTED_TWICE, line, what))
        if not first and self.start is None:
            what = "it is resumed, expected a start and a preemption before"
            found.append(self._fault(Kind.NOT_PREEMPTED, line, what))
        if line.time < self.job.submit:
            what = f"it is given GPUs, but is submitted at {self.job.submit}"
            found.append(self._fault(Kind.EARLY_START, line, what))
        if self.start is None:
            self.start = line.time
        else:
            self.restarts += 1
            self.toll = self.job.restart
        self.since = line.time
        return True, found

    def stop(self, line: Line) -> tuple[bool, list[Finding]]:
        """End or be preempted; whether it gives GPUs back by it, and what is wrong."""
        ends = line.action == "end"
        if self.since is None or self.due is None:
            self.closed = self.closed or ends
            word = "ends" if ends else "is preempted"
            return False, [self._fault(Kind.NOT_RUNNING, line, f"it {word}, but holds no GPUs")]
        found, due = [], self.due
        if ends and line.time < due:
            found.append(self._fault(Kind.ENDED_EARLY, line, f"it ends, expected at {due}{self._why()}"))
        if line.time > due or (line.time == due and not ends):
            word = "ends" if ends else "is preempted"
            found.append(
                self._fault(Kind.ENDED_LATE, line, f"it {word}, expected its end at {due}{self._why()}")
            )
        held = max(0, line.time - self.since)
        cost = min(held, self.toll)
        self.executed += held
        self.paid += cost
        self.done += held - cost
        self.since, self.toll = None, 0
        if ends:
            self.end, self.closed = line.time, True
        else:
            self.preemptions += 1
        return True, found

    def lost(self) -> list[Finding]:
        """After the last line: a job that never ended."""
        if self.closed:
            return []
        if self.since is not None:
            state = f"it holds its GPUs since {self.since}, expected its end at {self.due}"
        elif self.start is not None:
            state = "it waits since its last preemption, expected that it is resumed"
        else:
            state = f"it is submitted at {self.job.submit}, expected that it starts"
        return [Finding(Kind.LOST, self.job.id, None, f"Job {self.job.id} never ends: {state}.")]

    def times(self) -> JobTimes:
        """What it came to."""
        job = self.job
        return JobTimes(
            job.id, job.submit, job.gpus, job.deadline, self.start, self.end, self.executed, self.paid,
            self.preemptions, self.restarts,
        )  # fmt: skip

    def _why(self) -> str:
        work = f"{self.job.duration} ticks of work, {self.done} done before {self.since}"
        return f" ({work}, a restart of {self.toll})" if self.toll else f" ({work})"

    def _fault(self, kind: Kind, line: Line, what: str) -> Finding:
        return Finding(kind, self.job.id, line.time, f"At {line.time} job {self.job.id}: {what}.")
