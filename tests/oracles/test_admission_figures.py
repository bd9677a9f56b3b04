"""The figures that a search of admission schedules has to meet or beat, on the reference data.

The bars: the figures of the design's table, reached by separate searches of a sketch, and the goal of 140 GiB
for the DeepSWE-like set. Bounds are areas, worked out there. Every schedule is judged by the validator.
"""

import gzip
import json
from pathlib import Path

import pytest

from scheduling_core.admission.attempts import KIB_PER_GIB, TICKS_PER_HOUR, Workload
from scheduling_core.admission.bounds import packing_bound
from scheduling_core.admission.formats import Assumptions, read_workload
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search import Goal, Measure, Resource, SearchResult, search
from scheduling_core.admission.search.problem import problem_of
from scheduling_core.admission.validate import validate

pytestmark = pytest.mark.oracle

GIB_HOURS = KIB_PER_GIB * TICKS_PER_HOUR


@pytest.fixture(scope="module")
def tmax() -> Workload:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "tmax"
    found = read_workload(folder / "tmax-9b.trials.jsonl.gz", Assumptions(disk_kib=10 * KIB_PER_GIB))
    return found.workload.first_of_each_task(3)


@pytest.fixture(scope="module")
def deepswe() -> Workload:
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "deepswe_like"
    return read_workload(folder / "attempts.jsonl.gz").workload


def found(workload: Workload, slots: int, goal: Goal, policy: Policy, budget: int) -> SearchResult:
    deadline = metrics(workload, fifo(workload, Limits(slots))).makespan
    problem = problem_of(workload, goal, policy, Limits(slots, deadline=deadline))
    result = search(problem, seed=1, budget=budget, chains=1)
    rows = [attempt.row() for attempt in workload.attempts]
    judged = validate(rows, result.schedule.row(), result.metrics.integers())
    assert judged.ok, judged.violations[:3]
    assert result.metrics.makespan <= deadline
    return result


@pytest.mark.parametrize(
    ("name", "slots", "hours", "fewest", "area", "most", "budget"),
    [
        ("tmax", 16, "3.349", 13, 15, 20, 20_000_000),
        ("deepswe", 64, "7.900", 59, 101, 140, 60_000_000),  # the sketch: 152
    ],
)
def test_peaks(
    shared: Path, request: pytest.FixtureRequest, name: str, slots: int, hours: str, fewest: int, area: int,
    most: int, budget: int,
) -> None:  # fmt: skip
    workload: Workload = request.getfixturevalue(name)
    first = metrics(workload, fifo(workload, Limits(slots), Policy.ACTIVE))
    assert f"{first.makespan / TICKS_PER_HOUR:.3f}" == hours
    packed = found(workload, slots, Goal(Resource.SLOTS), Policy.WHOLE, 1_000)
    assert (packed.value, packed.proved) == (fewest, True)
    assert packing_bound([a.ticks for a in workload.attempts], first.makespan).value == fewest
    ram = found(workload, slots, Goal(Resource.RAM), Policy.ACTIVE, budget)
    assert -(-ram.metrics.ram.area // first.makespan) <= area * KIB_PER_GIB  # no peak is below the area bound
    assert area * KIB_PER_GIB <= ram.value <= most * KIB_PER_GIB


@pytest.mark.parametrize(
    ("name", "slots", "at_first", "most", "bound"),
    [("tmax", 16, 132.3, 62.2, 60.4), ("deepswe", 64, 1811.4, 209.9, 209.7)],
)
def test_image_hours(
    shared: Path, request: pytest.FixtureRequest, name: str, slots: int, at_first: float, most: float,
    bound: float,
) -> None:  # fmt: skip
    workload: Workload = request.getfixturevalue(name)
    first = metrics(workload, fifo(workload, Limits(slots), Policy.ACTIVE))
    assert round(first.images.kib_ticks / GIB_HOURS, 1) == at_first
    images = found(workload, slots, Goal(Resource.IMAGES, Measure.HOURS), Policy.ACTIVE, 1_000_000)
    assert round(images.bound.value / GIB_HOURS, 1) == bound
    assert round(images.value / GIB_HOURS, 1) <= most
    if name == "deepswe":
        assert images.value <= 1.01 * images.bound.value


def test_the_reference_data_are_what_the_figures_were_taken_from(shared: Path) -> None:
    lines = gzip.decompress((shared / "data" / "tmax" / "tmax-9b.trials.jsonl.gz").read_bytes()).splitlines()
    assert len(lines) == 445
    assert all("result" in json.loads(line) for line in lines)
