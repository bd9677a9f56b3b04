"""Reactive admission: worked by hand, against FIFO's replay, blind to the future, and behind a search."""

import json
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

import pytest
import vl_convert
from admission_cases import attempt, workload, workloads
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Attempt, Segment, SegmentKind, Workload
from scheduling_core.admission.experiments.baselines import FIGURES, run
from scheduling_core.admission.experiments.disciplines import (
    Aging,
    FairShare,
    ImageAffinity,
    InOrder,
    LongestPredicted,
    Shares,
    ShortestPredicted,
    baselines,
    shares_of,
)
from scheduling_core.admission.experiments.reactive import (
    Candidate,
    Discipline,
    Ended,
    Known,
    View,
    admit,
    oracle,
)
from scheduling_core.admission.formats import Assumptions, read_workload
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search import Goal, Measure, Resource
from scheduling_core.admission.validate import validate
from scheduling_core.errors import SchedulingError

LIMITS = st.builds(
    Limits,
    slots=st.integers(1, 4),
    cpu_milli=st.one_of(st.none(), st.integers(3, 6)),  # no case takes more than 3, 5 and 5
    ram_kib=st.one_of(st.none(), st.integers(5, 9)),
    disk_kib=st.one_of(st.none(), st.integers(5, 9)),
)


def of_lengths(*ticks: int, **fields: int) -> Workload:
    return workload(*(attempt(f"a{k}", f"tool {t}", **fields) for k, t in enumerate(ticks)))


@given(workloads(most=8), LIMITS)
def test_fifo_is_that_of_the_replay(of: Workload, limits: Limits) -> None:
    """Releases out of order and quotas that block the head included."""
    for policy in Policy:
        assert admit(of, limits, InOrder(), policy=policy) == fifo(of, limits, policy)


@pytest.mark.parametrize(
    ("discipline", "starts"),
    [
        # One slot, lengths 4, 2, 3, 1, all there at 0.
        (InOrder(), (0, 4, 6, 9)),
        (ShortestPredicted(), (6, 1, 3, 0)),
        (LongestPredicted(), (0, 7, 4, 9)),
        # The last goes first, and has overtaken all: 4-2, 2-2, 3-2. Then the second, which overtook the first
        # alone: 4-4, 3-2. So the first is before the third.
        (Aging(2), (3, 1, 7, 0)),
        (Aging(0), (6, 1, 3, 0)),
    ],
)
def test_orders_of_four_by_hand(discipline: Discipline, starts: tuple[int, ...]) -> None:
    assert admit(of_lengths(4, 2, 3, 1), Limits(1), discipline).starts == starts


def test_how_much_an_overtaking_weighs_decides_when_the_longest_starts() -> None:
    """Lengths 9 2 3 1. After the last and the second have started: 9-4 against 3-2, and 9-20 against 3-10."""
    assert admit(of_lengths(9, 2, 3, 1), Limits(1), Aging(2)).starts == (6, 1, 3, 0)
    assert admit(of_lengths(9, 2, 3, 1), Limits(1), Aging(10)).starts == (3, 1, 12, 0)


def test_predictions_decide_and_not_the_lengths() -> None:
    """Lengths 4, 2, 3 that are believed to be 1, 3, 2: the first, the third, the second."""
    assert admit(of_lengths(4, 2, 3), Limits(1), ShortestPredicted(), Known((1, 3, 2))).starts == (0, 7, 4)


def test_a_later_arrival_is_no_candidate_before_it_comes() -> None:
    """The short one comes at 1, when the long one has the slot; the middle one waited for that from 0."""
    of = workload(
        attempt("long", "tool 6"), attempt("middle", "tool 5"), attempt("short", "tool 1", release=1)
    )
    assert admit(of, Limits(1), LongestPredicted()).starts == (0, 6, 11)
    assert admit(of, Limits(1), ShortestPredicted()).starts == (6, 0, 5)


def test_shares_are_those_of_the_example_of_drf() -> None:
    """Ghodsi et al., NSDI 2011, section 4.1 and table 1: of 9 CPUs and 18 GB, A's tasks take <1, 4> and B's
    <3, 1>. They start in the order B, A, A, B, A, and then the CPUs are all taken: A has three, B two.
    Each length is its own here, so that the starts tell the order; nobody ends before all have started."""

    def of(tenant: str, number: int) -> Attempt:
        cpu, ram = (1, 4) if tenant == "A" else (3, 1)
        return attempt(
            f"{tenant}{number}", "tool 50", cpu_milli=cpu, ram_kib=ram, tenant=tenant, image=tenant
        )

    together = workload(*(of(tenant, number) for number in range(4) for tenant in "BA"))
    order: list[str] = []

    @dataclass(frozen=True)
    class Told(FairShare):
        def choose(self, view: View) -> Candidate | None:
            chosen = super().choose(view)
            if chosen is not None and view.now == 0:
                order.append(str(chosen.tenant))
            return chosen

    starts = admit(together, Limits(99, cpu_milli=9, ram_kib=18), Told()).starts
    assert order == ["B", "A", "A", "B", "A"]
    assert [a.id for a, start in zip(together.attempts, starts, strict=True) if start == 0] == [
        "B0", "A0", "B1", "A1", "A2",
    ]  # fmt: skip


def test_slots_alone_are_shared_evenly_between_tenants() -> None:
    """Max-min: of 4 slots, one goes to the tenant with one attempt, and the greedy one gets the rest."""
    of = workload(*(attempt(f"g{k}", "tool 9", tenant="greedy") for k in range(5)),
                  attempt("m", "tool 9", tenant="modest"))  # fmt: skip
    assert admit(of, Limits(4), FairShare()).starts == (0, 0, 0, 9, 9, 0)
    assert admit(of, Limits(4), FairShare(Shares.TASK)).starts == fifo(of, Limits(4)).starts


def test_shares_are_between_tasks_where_nobody_names_a_tenant() -> None:
    assert shares_of(of_lengths(1)) is Shares.TASK
    assert shares_of(workload(attempt("a", "tool 1", tenant="x"), attempt("b", "tool 1"))) is Shares.TENANT


def test_affinity_takes_images_in_use_until_the_skips_are_used_up() -> None:
    """Images x y x x x, lengths 2 9 2 2 2. In two slots the first x starts, and the second beside it, as y
    is skipped. At 2 both end, and nothing is in use: the head y. Without skips y goes second."""
    of = workload(*(attempt(f"a{k}", f"tool {9 if i == 'y' else 2}", image=i) for k, i in enumerate("xyxxx")))
    assert admit(of, Limits(2), ImageAffinity(None)).starts == (0, 2, 0, 2, 4)
    assert admit(of, Limits(2), ImageAffinity(0)).starts == fifo(of, Limits(2)).starts == (0, 0, 2, 4, 6)
    # In three slots three x start at once; with one skip y is the third to start.
    assert admit(of, Limits(3), ImageAffinity(None)).starts == (0, 2, 0, 0, 2)
    assert admit(of, Limits(3), ImageAffinity(1)).starts == (0, 0, 0, 2, 2)


@given(workloads(least=1, most=8, latest=0), st.integers(1, 3), st.integers(0, 4))
def test_nobody_is_skipped_more_often_than_the_bound(of: Workload, slots: int, skips: int) -> None:
    order: list[int] = []

    @dataclass(frozen=True)
    class Told(ImageAffinity):
        def choose(self, view: View) -> Candidate | None:
            chosen = super().choose(view)
            order.extend([] if chosen is None else [chosen.number])
            return chosen

    admit(of, Limits(slots), Told(skips))
    assert sorted(order) == list(range(len(of)))
    for place, number in enumerate(order):
        assert sum(other > number for other in order[:place]) <= skips


@given(st.data())
def test_hidden_lengths_change_no_earlier_decision(data: st.DataObject) -> None:
    """Up to some tick, nobody could tell the lengths of those that hadn't ended: whoever hadn't started gets
    another's segments, whoever ran goes on at least as long, and all decisions before that tick stay."""
    of = data.draw(workloads(least=1, most=8))
    limits = data.draw(LIMITS)
    predictor = Known(tuple(data.draw(st.integers(0, 9)) for _ in of.attempts))
    discipline = data.draw(st.sampled_from(baselines(of, aging=2, skips=2)))
    before = admit(of, limits, discipline, predictor).starts
    tick = data.draw(st.integers(0, max(before) + 1))
    coming = [k for k, start in enumerate(before) if start >= tick]
    changed = list(of.attempts)
    for k, other in zip(coming, data.draw(st.permutations(coming)), strict=True):
        changed[k] = replace(changed[k], segments=of.attempts[other].segments)
    for k, (a, start) in enumerate(zip(of.attempts, before, strict=True)):
        if start < tick < start + a.ticks:
            longer = data.draw(st.integers(tick - start, tick - start + 9))
            changed[k] = replace(a, segments=(Segment(SegmentKind.TOOL, longer),))
    after = admit(Workload("changed", tuple(changed)), limits, discipline, predictor).starts
    assert [s for s in before if s < tick] == [s for s in after if s < tick]
    assert [s < tick for s in before] == [s < tick for s in after]


def test_a_discipline_is_shown_no_length_but_of_what_ended() -> None:
    of = of_lengths(3, 1, 2, 5)
    seen: list[View] = []

    @dataclass(frozen=True)
    class Spy:
        name: str = field(default="spy")

        def choose(self, view: View) -> Candidate | None:
            seen.append(view)
            return view.waiting[0]

    # One that can't be asked for a length at all.
    def no_prediction(candidate: Candidate, view: View) -> int:
        raise AssertionError

    admit(of, Limits(2), Spy(), no_prediction)
    assert {f.name for f in fields(Candidate)} == {
        "number", "release", "task", "image", "tenant", "image_kib", "demands",
    }  # fmt: skip
    # At 0 the first two start. The second ends at 1, the first and the third both at 3.
    assert [v.now for v in seen] == [0, 0, 1, 3]
    assert [[e.ticks for e in v.ended] for v in seen] == [[], [], [1], [3, 1, 2]]
    assert [[r.attempt.number for r in v.running] for v in seen] == [[], [0], [0], []]
    assert seen[3].ended[1] == Ended(seen[0].waiting[1], 0, 1)
    assert seen[3].ended_by_task == {"t": (3, 6)}


@settings(max_examples=40)
@given(workloads(most=8), LIMITS, st.integers(0, 3), st.integers(0, 3))
def test_all_baselines_keep_the_limits(of: Workload, limits: Limits, aging: int, skips: int) -> None:
    """Says the validator, which knows the attempts, the starts and the limits only."""
    for discipline in baselines(of, aging, skips):
        made = admit(of, limits, discipline)
        assert validate([a.row() for a in of.attempts], made.row()).ok


def test_a_discipline_that_starts_what_can_not_start_is_refused() -> None:
    @dataclass(frozen=True)
    class Bad:
        name: str = "bad"

        def choose(self, view: View) -> Candidate | None:
            return Candidate(7, 0, "t", "i", None, 0, (1, 0, 0, 0))

    @dataclass(frozen=True)
    class Idle:
        name: str = "idle"

        def choose(self, view: View) -> Candidate | None:
            return None

    with pytest.raises(SchedulingError, match=r"^The discipline bad started attempt 7 at tick 0, which"):
        admit(of_lengths(1, 1), Limits(1), Bad())
    with pytest.raises(SchedulingError, match=r"^The discipline idle starts none of 2 attempts after tick 0"):
        admit(of_lengths(1, 1), Limits(1), Idle())
    with pytest.raises(
        SchedulingError, match=r"^Attempt a0 wants \[1, 1000, .*, more than there is: \[1, 5, "
    ):
        admit(of_lengths(1), Limits(1, cpu_milli=5), InOrder())
    with pytest.raises(SchedulingError, match=r"^skips is -1, expected a whole number from 0\.$"):
        baselines(of_lengths(1), aging=0, skips=-1)


@pytest.fixture
def small() -> Workload:
    """Six of three images, each twice, beside a long call that leaves room to delay them."""
    return workload(
        attempt("long", "model 150", image="w"),
        *(
            attempt(f"{image}{k}", "setup 10 model 40 tool 10", image=image, task=image)
            for k in range(2)
            for image in "xyz"
        ),
    )


def test_the_experiment_shows_whole_schedules_and_gains_over_the_best_baseline(small: Workload) -> None:
    made = run(small, Limits(4), seed=1, budget=20_000)
    assert json.loads(json.dumps([made.rows, made.charts, made.parameters], allow_nan=False))
    assert [row[0] for row in made.rows] == list(made.schedules)
    assert {len(row) for row in made.rows} == {len(made.columns)}
    table = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
    for row in table:
        figures = metrics(small, made.schedules[str(row["schedule"])]).table()
        assert {name: row[name] for name in figures} == figures
        assert validate([a.row() for a in small.attempts], made.schedules[str(row["schedule"])].row()).ok
    for goal in (Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS)):
        key = FIGURES[goal][0]
        best = min(float(row[key]) for row in table if row["kind"] == "baseline")  # type: ignore[arg-type]
        for row in table:
            assert row[f"gain in {goal}, %"] == pytest.approx(100 * (best - float(row[key])) / best)  # type: ignore[arg-type]
    # FIFO sets three up at once, at 2 GiB each. Starts at 0, 10, 20, 60, 70, 80 need 4 GiB and end at 140.
    assert (table[0]["ram_peak_gib"], table[0]["makespan_h"]) == (6.0, 150 / 36_000)
    assert float(table[-2]["ram_peak_gib"]) <= 4.0  # type: ignore[arg-type]
    assert run(small, Limits(4), seed=1, budget=20_000) == made
    for chart in made.charts.values():
        assert "<path" in vl_convert.vegalite_to_svg(dict(chart))


def test_what_an_admission_does_not_look_at_can_not_be_limited(small: Workload) -> None:
    with pytest.raises(SchedulingError, match=r"can't keep a limit on requests\.$"):
        run(small, Limits(3, requests=1), seed=1)
    with pytest.raises(SchedulingError, match=r"^The goals have to be one or more, each once\.$"):
        run(small, Limits(3), seed=1, goals=())


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["tmax", "deepswe_like"])
def test_a_search_beats_the_best_baseline_on_each_goal(shared: Path, name: str) -> None:
    """Not FIFO alone: image affinity without a bound is near the best that grouping can give."""
    if name == "tmax":
        file, slots = shared / "data/tmax/tmax-9b.trials.jsonl.gz", 16
        of = read_workload(file, Assumptions()).workload.first_of_each_task(3)
    else:
        of, slots = read_workload(shared / "data/deepswe_like/attempts.jsonl.gz").workload, 64
    made = run(of, Limits(slots), seed=1, budget=2_000_000)
    table = {row[0]: dict(zip(made.columns, row, strict=True)) for row in made.rows}
    for goal in made.parameters["goals"]:
        found = table[f"searched for {goal}"]
        assert found["ends by the deadline"] == "yes"
        assert float(found[f"gain in {goal}, %"]) > 0  # type: ignore[arg-type]
        baseline = [row for row in table.values() if row["kind"] == "baseline"]
        assert max(float(row[f"gain in {goal}, %"]) for row in baseline) == 0  # type: ignore[arg-type]


@settings(max_examples=30)
@given(workloads(least=1, most=6), st.integers(1, 3))
def test_the_oracle_predicts_each_length(of: Workload, slots: int) -> None:
    """Longest first by the oracle is list admission in that order where all are there from the start."""
    at_once = workload(*(replace(a, release=0) for a in of.attempts))
    assert oracle(at_once).ticks == tuple(a.ticks for a in of.attempts)
    order = sorted(range(len(of)), key=lambda k: (-of.attempts[k].ticks, k))
    assert admit(at_once, Limits(slots), LongestPredicted()).starts == fifo(
        at_once, Limits(slots), order=order
    ).starts  # fmt: skip
