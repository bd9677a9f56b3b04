"""Every policy runs to the end and says the same again; another distribution adds one by entry point."""

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.cluster import homogeneous
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.jobs import Job, Trace
from scheduling_core.queueing.policies import Policy, policy, policy_names
from scheduling_core.queueing.simulator import simulate

NAMES = ("edf", "edf_las", "llf", "ftf", "gandiva", "chronus_like", "genie_like")


def with_windows(trace: Trace) -> Trace:
    """Every other job is to end within three times its duration."""
    jobs = (
        replace(job, deadline=job.submit + 3 * job.duration if i % 2 else None)
        for i, job in enumerate(trace.jobs)
    )
    return replace(trace, jobs=tuple(jobs))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("deadlines", [False, True])
def test_all_60_jobs_end(shared: Path, name: str, deadlines: bool) -> None:
    """With its defaults, on 2 nodes of 4 GPUs: each works its duration, and a second run is the same log."""
    trace = read_trace(shared / "data/traces/tiresias_60_job.csv").trace
    trace = with_windows(trace) if deadlines else trace
    outcomes = [simulate(trace, homogeneous(8, 4), policy(name), decisions=True) for _ in range(2)]
    assert (outcomes[0].end > outcomes[0].submit).all()
    assert (outcomes[0].executed == outcomes[0].duration).all()
    ids = [job.id for job in trace.jobs]
    logs = [outcome.decisions.sha256(ids) for outcome in outcomes if outcome.decisions is not None]
    assert logs[0] == logs[1]


Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with a module `other_policies` onto the path, as pip leaves it there."""

    def put(source: str, points: str) -> None:
        info = tmp_path / "other_policies-1.0.dist-info"
        info.mkdir()
        (tmp_path / "other_policies.py").write_text(source)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-policies\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[proofshelf.policies]\n{points}\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "other_policies", raising=False)

    return put


def template() -> str:
    """The policy of ten lines in the docstring of `Policy`, with its imports."""
    _, _, after = (inspect.getdoc(Policy) or "").partition("::\n")
    block, _, _ = after.partition("\nname :")
    imports = "import numpy as np\nfrom scheduling_core.queueing.policies import Policy\n\n"
    return imports + textwrap.dedent(block)


def test_the_documented_policy_of_another_distribution_runs(install: Install) -> None:
    """Smallest service first: at 4 job 1 comes with no service and goes first, asked at arrivals and ends."""
    install(template(), "smallest-service = other_policies:SmallestServiceFirst")
    assert policy_names()[-1] == "smallest-service"
    trace = Trace("two", (Job("0", 0, 1, 10), Job("1", 4, 1, 3)))
    outcome = simulate(trace, homogeneous(1), policy("smallest-service"))
    assert outcome.end.tolist() == [13, 7]


def test_a_name_of_ours_stays_ours(install: Install) -> None:
    install(template(), "edf = other_policies:SmallestServiceFirst")
    assert policy_names().count("edf") == 1
    assert type(policy("edf")).__module__ == "scheduling_core.queueing.policies.deadlines"


def test_what_is_no_policy_is_refused(install: Install) -> None:
    install("def scheduler():\n    pass\n", "mine = other_policies:scheduler")
    with pytest.raises(SchedulingError, match="other_policies:scheduler is registered as policy mine"):
        policy("mine")


def test_an_option_that_a_policy_has_not() -> None:
    with pytest.raises(SchedulingError, match="Policy edf doesn't take these options"):
        policy("edf", quantum=3)
