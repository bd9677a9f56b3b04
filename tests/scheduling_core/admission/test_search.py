"""The search: unbeaten where brute force can tell, and dependent on nothing but its seed and budget."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, Workload, ranked
from scheduling_core.admission.kernels import moves
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy, schedule_of
from scheduling_core.admission.search import Goal, Measure, Resource, search
from scheduling_core.admission.search.chain import Chain
from scheduling_core.admission.search.engine import value_of
from scheduling_core.admission.search.priorities import pack, starts_by
from scheduling_core.admission.search.problem import Problem, problem_of
from scheduling_core.admission.synthetic import generate
from scheduling_core.admission.validate import validate
from scheduling_core.compiled import is_compiled, plain_form
from scheduling_core.errors import SchedulingError

KINDS = (SegmentKind.SETUP, SegmentKind.MODEL, SegmentKind.TOOL)
GOALS = [Goal(r) for r in Resource] + [Goal(Resource.IMAGES, Measure.HOURS)]
GIB = 1 << 20


def attempt(number: int, lengths: tuple[int, ...], ram: int = 2, image: int = 0, release: int = 0) -> Attempt:
    segments = tuple(Segment(KINDS[k % 3], ticks) for k, ticks in enumerate(lengths))
    return Attempt(
        f"a{number}", f"t{image}", f"i{image}", number, release, segments, 1000, ram * GIB, GIB,
        (image + 1) * 1024,
    )  # fmt: skip


WORKLOADS = st.lists(
    st.tuples(
        st.lists(st.integers(1, 3), min_size=1, max_size=3).map(tuple), st.integers(1, 3), st.integers(0, 1)
    ),
    min_size=2, max_size=3,
).map(lambda rows: ranked("small", [attempt(k, *row) for k, row in enumerate(rows)]))  # fmt: skip


def limits_of(workload: Workload, slots: int = 2, late: int = 0) -> Limits:
    return Limits(slots, deadline=metrics(workload, fifo(workload, Limits(slots))).makespan + late)


def every_value(problem: Problem) -> list[int]:
    """The goal's value of every schedule that keeps slots, release and deadline: by trying all starts."""
    found = []
    attempts = problem.workload.attempts
    ranges = [range(a.release, problem.deadline - a.ticks + 1) for a in attempts]
    for starts in itertools.product(*ranges):
        schedule = schedule_of(problem.workload, starts, problem.policy, problem.limits)
        figures = metrics(problem.workload, schedule)
        if figures.slots.peak <= problem.limits.slots:
            found.append(value_of(problem, figures))
    return found


@pytest.mark.parametrize("goal", GOALS, ids=str)
@given(workload=WORKLOADS)
@settings(max_examples=12)
def test_small_searches_reach_the_optimum_of_all_schedules(goal: Goal, workload: Workload) -> None:
    problem = problem_of(workload, goal, Policy.ACTIVE, limits_of(workload, late=1))
    result = search(problem, seed=1, budget=4_000, chains=2)
    lowest = min(every_value(problem))
    assert result.bound.value <= lowest <= result.value
    assert result.value == lowest
    assert result.proved == (result.bound.value == lowest)


@given(workload=WORKLOADS, goal=st.sampled_from(GOALS), seed=st.integers(0, 9))
@settings(max_examples=40)
def test_whatever_is_found_is_valid_and_no_worse_than_its_beginning(
    workload: Workload, goal: Goal, seed: int
) -> None:
    problem = problem_of(workload, goal, Policy.WHOLE, limits_of(workload))
    result = search(problem, seed=seed, budget=500, chains=1)
    judged = validate([a.row() for a in workload.attempts], result.schedule.row(), result.metrics.integers())
    assert judged.ok, judged.violations
    assert result.value <= result.first


@pytest.mark.parametrize("resource", [r for r in Resource if r is not Resource.IMAGES])
def test_hours_that_no_schedule_changes_are_refused(resource: Resource) -> None:
    with pytest.raises(SchedulingError, match="same in every schedule"):
        Goal(resource, Measure.HOURS)


def medium(count: int = 24) -> Workload:
    return generate("tmax-like", count, 5)


def test_workers_chains_and_slices_change_nothing_of_the_bytes(tmp_path: Path) -> None:
    workload = medium()
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, limits_of(workload, 4))
    one = search(problem, seed=3, budget=200_000, chains=3)
    again = search(problem, seed=3, budget=200_000, chains=3)
    two = search(problem, seed=3, budget=200_000, chains=3, workers=2, checkpoints=tmp_path)
    assert one.schedule.row() == again.schedule.row() == two.schedule.row()
    assert one == again == two
    other = search(problem, seed=4, budget=200_000, chains=3)
    assert other.schedule.starts != one.schedule.starts


@pytest.mark.parametrize("goal", [Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS)], ids=str)
def test_compiled_and_plain_kernels_make_the_same_moves(goal: Goal) -> None:
    assert is_compiled(moves)
    workload = ranked("repeats", [replace(a, image=f"i{k % 3}", image_kib=4096) for k, a in
                                  enumerate(generate("tmax-like", 8, 2).attempts)])  # fmt: skip
    workload = ranked("short", [replace(a, segments=a.segments[:6]) for a in workload.attempts])
    problem = problem_of(workload, goal, Policy.ACTIVE, limits_of(workload, 3))
    starts = starts_by("grouped", workload, problem.limits) or starts_by("fifo", workload, problem.limits)
    assert starts is not None
    states = []
    for kernels in (moves, plain_form(moves)):
        chain = Chain(problem, starts, 7, kernels)
        for _ in range(3):
            chain.advance(3_000)
        states.append(chain.state())
    assert states[0] == states[1]
    assert states[0]["counters"][0] > 0


def test_a_chain_that_is_saved_and_gone_on_with_ends_as_one_that_wasnt() -> None:
    workload = medium()
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, limits_of(workload, 4))
    starts = list(fifo(workload, problem.limits).starts)
    whole = Chain(problem, starts, 1)
    for _ in range(6):
        whole.advance(20_000)
    part = Chain(problem, starts, 1)
    for _ in range(3):
        part.advance(20_000)
    saved = json.loads(json.dumps(part.state()))
    later = Chain(problem, starts, 1)
    later.resume(saved)
    for _ in range(3):
        later.advance(20_000)
    assert json.loads(json.dumps(later.state())) == json.loads(json.dumps(whole.state()))


def test_the_grids_of_a_chain_are_those_of_its_starts() -> None:
    """After many moves, profile, slots and costs are what a fresh grid of the same starts holds."""
    workload = medium()
    for goal in (Goal(Resource.RAM), Goal(Resource.IMAGES), Goal(Resource.IMAGES, Measure.HOURS)):
        limits = replace(limits_of(workload, 4), ram_kib=6 * GIB)
        problem = problem_of(workload, goal, Policy.ACTIVE, limits)
        chain = Chain(problem, list(fifo(workload, Limits(4)).starts), 1)
        for _ in range(4):
            chain.advance(50_000)
        fresh = Chain(problem, [int(s) for s in chain._starts], 1)
        for r, cap in enumerate(chain._cap):
            fresh._cap[r] = cap
        fresh._set([int(s) for s in chain._starts])
        for name in ("_use", "_slots", "_over"):
            assert list(getattr(chain, name)) == list(getattr(fresh, name)), (str(goal), name)
        assert list(chain._counters)[1::2] == list(fresh._counters)[1::2]


def test_a_kill_in_the_middle_loses_nothing_of_the_result(tmp_path: Path) -> None:
    """kill -9, then the same again: on from the last checkpoint, to the result of an undisturbed run."""
    code = (
        "import sys; from pathlib import Path\n"
        "from scheduling_core.admission.search import engine\n"
        "from scheduling_core.admission.search import *\n"
        "from scheduling_core.admission.search.problem import problem_of\n"
        "from scheduling_core.admission.schedule import Limits, Policy\n"
        "from scheduling_core.admission.synthetic import generate\n"
        "from scheduling_core.admission.replay import fifo\n"
        "from scheduling_core.admission.metrics import metrics\n"
        "engine.SLICE, engine.CHECKPOINT_SECONDS = 20_000, 0.0\n"
        "w = generate('tmax-like', 60, 5)\n"
        "d = metrics(w, fifo(w, Limits(8))).makespan\n"
        "p = problem_of(w, Goal(Resource.RAM), Policy.ACTIVE, Limits(8, deadline=d))\n"
        "r = search(p, seed=1, budget=int(sys.argv[2]), chains=2, checkpoints=Path(sys.argv[1]))\n"
        "print(r.schedule.sha256, r.value, r.candidates)\n"
    )
    budget = "4000000"
    run = [sys.executable, "-c", code, str(tmp_path / "killed"), budget]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed" / "chain-0.json"
    while not checkpoint.exists():
        assert process.poll() is None, "the search ended before it was saved once"
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert not (tmp_path / "killed" / "chain-1.json").exists()  # it was in the middle
    seen = json.loads(checkpoint.read_text())["state"]["counters"][0]
    assert 0 < seen < 2_000_000
    resumed = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    run[3] = str(tmp_path / "whole")
    assert resumed == subprocess.run(run, capture_output=True, text=True, check=True).stdout


def test_an_interrupt_ends_in_the_best_so_far(tmp_path: Path) -> None:
    workload = medium()
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, limits_of(workload, 4))
    told: list[int] = []

    def progress(candidates: int, budget: int) -> None:
        if not told:
            os.kill(os.getpid(), signal.SIGINT)
        told.append(candidates)

    result = search(problem, seed=1, budget=10**9, chains=1, checkpoints=tmp_path, progress=progress)
    assert result.stopped == "interrupted"
    assert result.candidates < 10**9
    assert result.value <= result.first
    assert (tmp_path / "chain-0.json").exists()


def test_a_time_limit_says_so() -> None:
    workload = medium()
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, limits_of(workload, 4))
    result = search(problem, seed=1, budget=10**12, chains=1, seconds=0.01)
    assert result.stopped == "time"
    assert result.candidates < 10**12


def test_limits_on_other_resources_are_kept_or_nothing_is_found() -> None:
    """Three attempts of 2 GiB side by side or one after another: under 4 GiB, two at a time."""
    workload = ranked("three", [attempt(k, (10,)) for k in range(3)])
    limits = Limits(3, deadline=30, ram_kib=4 * GIB)
    result = search(problem_of(workload, Goal(Resource.DISK), Policy.WHOLE, limits), seed=1, budget=2_000)
    assert result.metrics.ram.peak <= 4 * GIB
    tight = replace(limits, deadline=10)
    with pytest.raises(SchedulingError, match="whether there is one isn't known"):
        search(problem_of(workload, Goal(Resource.DISK), Policy.WHOLE, tight), seed=1, budget=2_000)


def test_what_cant_be_searched_is_refused_with_a_reason(tmp_path: Path) -> None:
    workload = ranked("two", [attempt(0, (10,)), attempt(1, (5,), ram=8)])
    limits = Limits(1, deadline=15)
    with pytest.raises(SchedulingError, match="needs a deadline"):
        problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, Limits(1))
    with pytest.raises(SchedulingError, match="a0 ends at tick 10 at the earliest, after the deadline 9"):
        problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, Limits(1, deadline=9))
    with pytest.raises(SchedulingError, match="a1 alone takes"):
        problem_of(workload, Goal(Resource.CPU), Policy.ACTIVE, replace(limits, ram_kib=4 * GIB))
    with pytest.raises(SchedulingError, match="holds no attempts"):
        problem_of(Workload("none", ()), Goal(Resource.RAM), Policy.ACTIVE, limits)
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, limits)
    with pytest.raises(SchedulingError, match="over the limit of 1 MB"):
        search(problem, seed=1, budget=10, memory_mb=1)
    search(problem, seed=1, budget=10, chains=1, checkpoints=tmp_path)
    with pytest.raises(SchedulingError, match=r"another search \(seed differ\)"):
        search(problem, seed=2, budget=10, chains=1, checkpoints=tmp_path)
    (tmp_path / "chain-0.json").write_text("{}")
    with pytest.raises(SchedulingError, match="is no checkpoint of a search"):
        search(problem, seed=1, budget=10, chains=1, checkpoints=tmp_path)


@pytest.mark.parametrize("starts", [[-1, 10], [6, 0], [0, 0], [0, 11]])
def test_a_beginning_outside_the_grid_or_the_slots_is_refused(starts: list[int]) -> None:
    """Compiled code would write elsewhere; 10 and 5 ticks on one slot, by 15."""
    workload = ranked("two", [attempt(0, (10,)), attempt(1, (5,))])
    problem = problem_of(workload, Goal(Resource.RAM), Policy.ACTIVE, Limits(1, deadline=15))
    with pytest.raises(SchedulingError, match=r"can't start at tick|run at once"):
        Chain(problem, starts, 1)
    with pytest.raises(SchedulingError, match=r"can't start at tick|run at once"):
        search(problem, seed=1, budget=10, begin={"mine": starts})


@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(9, 14))
def test_lanes_hold_every_length_once_and_none_is_too_full(lengths: list[int], size: int) -> None:
    lanes = pack(lengths, size)
    assert sorted(i for lane in lanes for i in lane) == list(range(len(lengths)))
    assert all(sum(lengths[i] for i in lane) <= size for lane in lanes)
