"""Suspension with its costs: worked by hand, against the free case, and against sweeps of its own."""

from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from admission_cases import GIB, STORES, attempt, workload, workloads
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Segment, SegmentKind, Stratum, Workload
from scheduling_core.admission.experiments.costs import AT_ONCE, Bandwidth, Constant, Loading, constant_of
from scheduling_core.admission.experiments.machine import suspended_replay
from scheduling_core.admission.experiments.states import Conditions, State, Stay, Suspended
from scheduling_core.admission.experiments.suspension import COLUMNS, SECONDS, run
from scheduling_core.admission.formats.reading import read_workload
from scheduling_core.admission.formats.records import Assumptions
from scheduling_core.admission.images import store_use
from scheduling_core.admission.metrics import metrics, saved_share
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import ImageStore, Limits, Policy
from scheduling_core.admission.validate import validate
from scheduling_core.errors import SchedulingError

LOADING, RUNNING, OFFLOADING, PARKED, RESTORING = State
PUBLISHED = (0.546, 0.532, 0.511, 0.478, 0.422, 0.310, 0.206, 0.107, 0.023)
"""Share of whole-admission hours saved on the clean tmax-9b trials, for the costs of SECONDS."""

FREE = Constant(0, 0)
CALLS = st.lists(
    st.tuples(st.sampled_from(["model", "tool"]), st.integers(1, 12)).map(
        lambda pair: Segment(SegmentKind(pair[0]), pair[1])
    ),
    min_size=1, max_size=6,
).map(tuple)  # fmt: skip
COSTS = st.builds(Constant, st.integers(0, 3), st.integers(0, 3))
CONDITIONS = st.builds(
    Conditions,
    cost=st.one_of(COSTS, st.builds(Bandwidth, st.integers(5, 50), st.integers(5, 50), st.integers(0, 2))),
    hidden=st.booleans(),
    channels=st.one_of(st.none(), st.integers(1, 2)),
    pool_kib=st.one_of(st.none(), st.integers(0, 10)),
    images=STORES,
    loading=st.one_of(st.just(AT_ONCE), st.builds(Loading, st.integers(0, 3), st.integers(5, 50))),
)


def one(segments: str, conditions: Conditions, **fields: Any) -> Suspended:
    return suspended_replay(workload(attempt("a", segments, **fields)), Limits(slots=1), conditions)


def test_a_hidden_restore_ends_with_the_reply() -> None:
    """Of a call of 10 ticks, 2 go to the offload and 3 to the restore: 5 are saved, nothing gets longer."""
    found = one("setup 4 model 10 tool 6", Conditions(Constant(2, 3)))
    assert found.stays == (
        (
            Stay(RUNNING, 0, 4), Stay(OFFLOADING, 4, 6), Stay(PARKED, 6, 11), Stay(RESTORING, 11, 14),
            Stay(RUNNING, 14, 20),
        ),
    )  # fmt: skip
    assert found.workload is found.before
    assert (found.saved(), found.added_ticks) == (Fraction(5, 20), 0)
    assert (found.destination().peak, found.destination().area) == (2 * GIB, 10 * 2 * GIB)
    assert (found.transfers().peak, found.transfers().area) == (1, 5)
    assert (found.ram().area, found.cpu().area) == (15 * 2 * GIB, 15 * 1000)
    assert (found.calls, found.suspended, found.moved_kib) == (1, 1, 2 * GIB)


def test_a_restore_after_the_reply_makes_the_attempt_longer() -> None:
    """8 ticks are parked, but 3 are added: 20 + 3 - 8 are reserved, so again 5 of 20 are saved."""
    found = one("setup 4 model 10 tool 6", Conditions(Constant(2, 3), hidden=False))
    assert found.stays == (
        (
            Stay(RUNNING, 0, 4), Stay(OFFLOADING, 4, 6), Stay(PARKED, 6, 14), Stay(RESTORING, 14, 17),
            Stay(RUNNING, 17, 23),
        ),
    )  # fmt: skip
    assert [(str(k), t) for k, t in found.workload.attempts[0].segments] == [
        ("setup", 4), ("model", 10), ("setup", 3), ("tool", 6),
    ]  # fmt: skip
    assert (found.saved(), found.added_ticks) == (Fraction(5, 20), 3)


@pytest.mark.parametrize(("length", "suspended"), [(5, 0), (6, 1)])
def test_a_call_no_longer_than_its_cost_is_not_suspended(length: int, suspended: int) -> None:
    found = one(f"model {length} tool 1", Conditions(Constant(2, 3)))
    assert (found.suspended, found.too_short) == (suspended, 1 - suspended)
    assert found.saved() == Fraction(suspended, length + 1)


def test_bandwidth_is_rounded_up_to_ticks() -> None:
    """2 GiB at 1 GiB/s are 20 ticks; at 1.5 GiB/s 13.33, so 14, behind 1 fixed tick."""
    assert Bandwidth(GIB, 3 * GIB // 2, 0, 1).ticks(2 * GIB) == (20, 15)


def test_two_calls_share_one_channel_in_order_of_arrival() -> None:
    """Both call at 0, for 11 and 12 ticks.

    a offloads in 0-2 and restores in 9-11. b offloads in 2-4; it wants to restore in 10-12, and has to wait
    for the channel until 11.
    """
    of = workload(attempt("a", "model 11 tool 1"), attempt("b", "model 12 tool 1"))
    found = suspended_replay(of, Limits(slots=2), Conditions(Constant(2, 2), channels=1))
    assert found.stays == (
        (Stay(OFFLOADING, 0, 2), Stay(PARKED, 2, 9), Stay(RESTORING, 9, 11), Stay(RUNNING, 11, 12)),
        (
            Stay(RUNNING, 0, 2), Stay(OFFLOADING, 2, 4), Stay(PARKED, 4, 11), Stay(RESTORING, 11, 13),
            Stay(RUNNING, 13, 14),
        ),
    )  # fmt: skip
    assert found.added_ticks == 1


def test_at_the_same_tick_a_restore_goes_before_an_offload() -> None:
    """At 9 a wants to offload and b, who arrived after it, to be restored: a waits for the channel to 11."""
    of = workload(attempt("a", "tool 9 model 20 tool 1"), attempt("b", "model 11 tool 1"))
    found = suspended_replay(of, Limits(slots=2), Conditions(Constant(2, 2), channels=1))
    assert Stay(RESTORING, 9, 11) in found.stays[1]
    assert found.stays[0][:2] == (Stay(RUNNING, 0, 11), Stay(OFFLOADING, 11, 13))
    # Of two offloads that of the first to arrive goes first.
    both = workload(attempt("a", "tool 4 model 20"), attempt("b", "tool 4 model 20"))
    found = suspended_replay(both, Limits(slots=2), Conditions(Constant(2, 2), channels=1))
    assert [stays[1].start for stays in found.stays] == [4, 6]


def test_an_offload_that_waits_too_long_is_not_begun() -> None:
    """b waits for the channel until 5; of its call of 9 only 4 are left, no more than the cost of 2 x 2."""
    of = workload(attempt("a", "model 30 tool 1"), attempt("b", "model 5 model 9 tool 1", ram_kib=GIB))
    cost = Conditions(Bandwidth(4 * GIB, 4 * GIB), channels=1)  # 2 GiB take 5 ticks, 1 GiB takes 3
    found = suspended_replay(of, Limits(slots=2), cost)
    # a offloads 0-5. b's first call (5) is no longer than 6; its second begins at 5 and is suspended: 9 > 6.
    assert (found.suspended, found.too_short, found.no_channel) == (2, 1, 0)
    late = workload(attempt("a", "model 30 tool 1"), attempt("b", "tool 1 model 9 tool 1"))
    found = suspended_replay(late, Limits(slots=2), Conditions(Constant(6, 2), channels=1))
    # a offloads 0-6; of b's call 1-10 only 4 are left then, and it would cost 8.
    assert (found.suspended, found.no_channel) == (1, 1)
    assert found.stays[1] == (Stay(RUNNING, 0, 11),)


def test_without_room_at_the_destination_a_call_is_not_suspended() -> None:
    """2 GiB fit once. At 10 a restore ends and an offload begins: what is given back is free at once."""
    of = workload(
        attempt("a", "model 10 tool 5"),
        attempt("b", "model 6 tool 4 model 5"),
        attempt("c", "model 3 tool 3"),
    )
    found = suspended_replay(of, Limits(slots=3), Conditions(Constant(1, 1), pool_kib=2 * GIB))
    assert (found.calls, found.suspended, found.no_room) == (4, 2, 2)
    assert found.destination().peak == 2 * GIB
    assert found.stays[1] == (
        Stay(RUNNING, 0, 10), Stay(OFFLOADING, 10, 11), Stay(PARKED, 11, 14), Stay(RESTORING, 14, 15),
    )  # fmt: skip


def test_an_attempt_waits_for_its_image_and_those_after_it_for_the_same_load() -> None:
    """3 GiB at 1 GiB/s: 30 ticks, behind 2. b comes at 10 and waits 22; c finds the image kept."""
    of = workload(
        attempt("a", "tool 8"), attempt("b", "tool 50", release=10), attempt("c", "tool 5", release=90)
    )
    conditions = Conditions(FREE, images=ImageStore(None), loading=Loading(2, GIB))
    found = suspended_replay(of, Limits(slots=2), conditions)
    assert [[tuple(map(str, s)) for s in a.segments] for a in found.workload.attempts] == [
        [("image_load", "32"), ("tool", "8")], [("image_load", "22"), ("tool", "50")], [("tool", "5")],
    ]  # fmt: skip
    assert (found.loads, found.loading_ticks, found.added_ticks) == (1, 54, 54)
    # Kept for 8 ticks after its last use at 82, it is gone when c starts at 90, and for 9 it is still there.
    for ticks, loads in ((8, 2), (9, 1)):
        again = Conditions(FREE, images=ImageStore(ticks), loading=Loading(2, GIB))
        assert suspended_replay(of, Limits(slots=2), again).loads == loads


@settings(max_examples=50)
@given(workloads(segments=CALLS), st.integers(1, 3), st.booleans(), st.integers(0, 8), st.integers(0, 8))
def test_savings_fall_with_the_cost(of: Workload, slots: int, hidden: bool, cost: int, more: int) -> None:
    """With room and channels for all: the sum of l - c over calls longer than c, restored either way."""
    whole = sum(a.ram_kib * a.ticks for a in of.attempts)
    shares = []
    for ticks in (cost, cost + more):
        found = suspended_replay(of, Limits(slots), Conditions(Constant(ticks // 2, -(-ticks // 2)), hidden))
        shares.append(found.saved() or Fraction(0))
        gained = sum(
            a.ram_kib * max(0, length - ticks)
            for a in of.attempts
            for kind, length in a.segments
            if kind == "model"
        )
        assert found.saved() == (Fraction(gained, whole) if whole else None)
    assert shares[0] >= shares[1]


@settings(max_examples=50)
@given(workloads(segments=CALLS), st.integers(1, 3), st.booleans())
def test_without_cost_it_is_policy_a_on_fifo(of: Workload, slots: int, hidden: bool) -> None:
    found = suspended_replay(of, Limits(slots), Conditions(FREE, hidden))
    free = fifo(of, Limits(slots), Policy.ACTIVE)
    figures = metrics(of, free)
    assert found.workload is of
    assert found.schedule == free
    assert (found.ram(), found.cpu(), found.destination()) == (figures.ram, figures.cpu, figures.parked)
    assert found.loads == figures.images.loads
    if found.saved() is not None:
        assert found.saved() == saved_share(of)


@settings(max_examples=50)
@given(workloads(segments=CALLS, most=7), st.integers(1, 4), CONDITIONS)
def test_limits_are_kept_at_every_tick_and_every_state_follows(
    of: Workload, slots: int, conditions: Conditions
) -> None:
    found = suspended_replay(of, Limits(slots), conditions)
    horizon = max((stays[-1].end for stays in found.stays), default=0)
    for tick in range(horizon):
        states = [
            (a, s.state) for a, stays in zip(of.attempts, found.stays, strict=True)
            for s in stays if s.start <= tick < s.end
        ]  # fmt: skip
        assert len(states) <= slots
        moving = [a for a, state in states if state in (OFFLOADING, RESTORING)]
        assert conditions.channels is None or len(moving) <= conditions.channels
        away = sum(a.ram_kib for a, state in states if state in (OFFLOADING, PARKED, RESTORING))
        assert conditions.pool_kib is None or away <= conditions.pool_kib
    for a, long, start, stays in zip(
        of.attempts, found.workload.attempts, found.schedule.starts, found.stays, strict=True
    ):
        offload, restore = conditions.cost.ticks(a.ram_kib)
        follows = {LOADING: {RUNNING, OFFLOADING, PARKED}, OFFLOADING: {PARKED}, PARKED: {RESTORING}}
        follows |= {RESTORING: {RUNNING, OFFLOADING, PARKED}, RUNNING: {OFFLOADING, PARKED}}
        if restore == 0:
            follows[PARKED] = {RUNNING, OFFLOADING, PARKED}
        assert start >= a.release
        assert (stays[0].start, stays[-1].end) == (start, start + long.ticks)
        for before, after in pairwise(stays):
            assert before.end == after.start
            assert after.state in follows[before.state]
        assert all(s.end - s.start == offload for s in stays if s.state is OFFLOADING)
        assert all(s.end - s.start == restore for s in stays if s.state is RESTORING)
        kept = [s for s in long.segments if s.kind not in ("image_load", "setup")]
        assert tuple(kept) == a.segments
    assert found.calls == found.suspended + found.too_short + found.no_channel + found.no_room
    assert found.calls == sum(kind == "model" for a in of.attempts for kind, _ in a.segments)
    assert found.suspended == sum(s.state is PARKED for stays in found.stays for s in stays)


@settings(max_examples=50)
@given(workloads(segments=CALLS, most=7), st.integers(1, 4), CONDITIONS)
def test_the_validator_and_the_image_store_say_the_same_of_the_longer_attempts(
    of: Workload, slots: int, conditions: Conditions
) -> None:
    found = suspended_replay(of, Limits(slots), conditions)
    users = [
        (start, start + a.ticks, a.image, a.image_kib)
        for a, start in zip(found.workload.attempts, found.schedule.starts, strict=True)
    ]
    assert found.loads == store_use(users, conditions.images).loads
    rows = [a.row() for a in found.workload.attempts]
    assert validate(rows, found.schedule.row(), {"images_loads": found.loads}).violations == ()


@pytest.mark.parametrize("hidden", [True, False])
def test_admission_waits_for_what_got_longer(hidden: bool) -> None:
    """One slot: b starts when a has ended, which is 3 later where the restore isn't hidden."""
    of = workload(attempt("a", "model 10 tool 5"), attempt("b", "tool 5"))
    found = suspended_replay(of, Limits(slots=1), Conditions(Constant(2, 3), hidden))
    assert found.schedule.starts == (0, 15 if hidden else 18)


def test_refusals_name_what_is_wrong() -> None:
    of = workload(attempt("a", "tool 5"))
    for limits in (Limits(1, parked_kib=1), Limits(1, image_kib=9), Limits(1, requests=1)):
        with pytest.raises(SchedulingError, match="keeps no limit on"):
            suspended_replay(of, limits, Conditions(FREE))
    with pytest.raises(SchedulingError, match="Attempt a alone wants more"):
        suspended_replay(of, Limits(1, ram_kib=GIB), Conditions(FREE))
    with pytest.raises(SchedulingError, match="channels is 0, expected a whole number from 1"):
        Conditions(FREE, channels=0)
    for bad in (0.25, -1, "x", "1/0", float("nan")):
        with pytest.raises(SchedulingError, match="expected whole tenths of a second"):
            constant_of(bad)
    with pytest.raises(SchedulingError, match="out_kib_s is 0"):
        Bandwidth(0, 1)
    with pytest.raises(SchedulingError, match="no cost to try"):
        run(of, Limits(1), seconds=())


def test_no_attempts_come_to_nothing() -> None:
    found = suspended_replay(workload(), Limits(1), Conditions(Constant(1, 1)))
    assert (found.calls, found.saved(), found.ram().peak) == (0, None, 0)
    assert run(workload(), Limits(1)).rows[0][COLUMNS.index("saved share of RAM-hours")] is None


def test_the_outcome_has_both_strata_and_every_schedule_of_the_workload() -> None:
    of = workload(
        attempt("a", "setup 4 model 10 tool 6"), attempt("b", "model 8 unknown 9", cause="agent_limit")
    )
    found = run(of, Limits(1), seconds=(0, 0.5), costs=[Bandwidth(8 * GIB, 8 * GIB)])
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert [(r["stratum"], r["attempts"]) for r in rows] == [("as_logged", 2)] * 6 + [("clean", 1)] * 6
    # 1 x 10 of 20 for the clean one; 2 GiB at 8 GiB/s are 2.5 ticks, so 3 and 3.
    clean = [r["saved share of RAM-hours"] for r in rows if r["stratum"] == "clean"]
    assert clean == [10 / 20] * 2 + [5 / 20] * 2 + [4 / 20] * 2
    assert [r["seconds"] for r in rows[:6]] == [0, 0, 0.5, 0.5, 0.6, 0.6]
    for name, schedule in found.schedules.items():
        assert validate([a.row() for a in of.attempts], schedule.row()).violations == (), name
    assert len(found.schedules) == 4  # the free one twice, and the two with hidden restores
    assert any("8192 MiB/s out" in sentence for sentence in found.assumed)
    assert set(found.charts) == {"savings", "destination"}
    for chart in found.charts.values():
        assert len(chart["data"]["values"]) == 12
        kinds = [v["kind"] for v in chart["data"]["values"][:6]]
        assert kinds == ["constant"] * 4 + [rows[4]["cost of a suspended call"]] * 2
        for layer in chart["layer"]:
            assert layer["encoding"]["y"]["title"]
            assert "(s)" in layer["encoding"]["x"]["title"]


def clean_trials(shared: Path) -> Workload:
    return read_workload(shared / "data/tmax/tmax-9b.trials.jsonl.gz", Assumptions()).workload.stratum(
        Stratum.CLEAN
    )


@pytest.mark.parametrize("hidden", [True, False])
def test_the_published_savings_at_the_smallest_and_the_largest_cost(shared: Path, hidden: bool) -> None:
    of = clean_trials(shared)
    for seconds, share in list(zip(SECONDS, PUBLISHED, strict=True))[:: len(SECONDS) - 1]:
        found = suspended_replay(of, Limits(16), Conditions(constant_of(seconds), hidden))
        assert round(float(found.saved() or 0), 3) == share


@pytest.mark.oracle
def test_every_published_saving(shared: Path) -> None:
    found = run(clean_trials(shared), Limits(16))
    shares = [row[COLUMNS.index("saved share of RAM-hours")] for row in found.rows]
    for hidden, after, share in zip(shares[::2], shares[1::2], PUBLISHED, strict=True):
        assert isinstance(hidden, float)
        assert (round(hidden, 3), after) == (share, hidden)
