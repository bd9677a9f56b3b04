"""Three facts of admission, on figures of the validator."""

from collections.abc import Iterator, Sequence
from itertools import product

from admission_cases import attempt, schedules, workload, workloads
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduling_core.admission.attempts import Segment, SegmentKind, Workload
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy, Schedule, schedule_of
from scheduling_core.admission.validate import Validation, validate


def account(of: Workload, made: Schedule) -> Validation:
    found = validate([one.row() for one in of.attempts], made.row())
    assert found.ok
    return found


@given(st.data())
def test_whole_admission_hours_of_cpu_and_ram_do_not_depend_on_the_starts(data: st.DataObject) -> None:
    """F1: they are the sum of quota x duration under every start vector."""
    of = data.draw(workloads())
    for _ in range(2):
        drawn = data.draw(schedules(of))
        figures = account(of, schedule_of(of, drawn.starts, Policy.WHOLE, drawn.limits)).metrics
        assert figures["cpu_area"] == sum(a.cpu_milli * a.ticks for a in of.attempts)
        assert figures["ram_area"] == sum(a.ram_kib * a.ticks for a in of.attempts)


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    for rest in partitions(items[1:]):
        yield [[items[0]], *rest]
        for k, group in enumerate(rest):
            yield [*rest[:k], [items[0], *group], *rest[k + 1 :]]


@settings(max_examples=25)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 2))
def test_identical_quotas_under_a_deadline_are_bin_packing(durations: list[int], slack: int) -> None:
    """F2: the lowest peak of all start vectors is the lowest number of bins of all partitions."""
    deadline = max(durations) + slack
    bins = min(len(p) for p in partitions(durations) if all(sum(group) <= deadline for group in p))
    of = workload(*(attempt(f"a{k}", f"tool {d}", ram_kib=7) for k, d in enumerate(durations)))
    rows = [one.row() for one in of.attempts]
    limits = Limits(slots=len(durations), deadline=deadline)
    peaks = set()
    for starts in product(*(range(deadline - d + 1) for d in durations)):
        figures = validate(rows, schedule_of(of, starts, Policy.WHOLE, limits).row()).metrics
        assert figures["ram_peak"] == 7 * figures["slots_peak"]
        peaks.add(figures["slots_peak"])
    assert min(peaks) == bins


FIRST_HOLDS = st.lists(
    st.tuples(st.sampled_from(SegmentKind), st.integers(1, 6)).map(lambda pair: Segment(*pair)),
    min_size=1, max_size=4,
).filter(lambda segments: segments[0].kind is not SegmentKind.MODEL).map(tuple)  # fmt: skip


@given(st.data(), st.integers(1, 4))
def test_who_never_waits_reserves_the_first_set_ups_together(data: st.DataObject, slots: int) -> None:
    """F3: under active-only reservation, admission as soon as a slot is free peaks at no less than the RAM
    of the first C in line, in whatever order they stand there."""
    of = data.draw(workloads(least=1, segments=FIRST_HOLDS, latest=0))
    order = data.draw(st.permutations(range(len(of))))
    figures = account(of, fifo(of, Limits(slots), Policy.ACTIVE, order=order)).metrics
    assert figures["ram_peak"] >= sum(of.attempts[k].ram_kib for k in order[:slots])


def test_a_start_delayed_on_purpose_goes_below_that_by_the_same_deadline() -> None:
    """Two alike: FIFO sets both up at 0. One tick later the second one's set-up is in the call of the first,
    and the long third one decides the end of both schedules."""
    two = [attempt(name, "setup 1 model 4", ram_kib=5) for name in "ab"]
    of = workload(*two, attempt("c", "model 6", ram_kib=0))
    at_once = fifo(of, Limits(slots=3), Policy.ACTIVE)
    delayed = schedule_of(of, [0, 1, 0], Policy.ACTIVE, Limits(slots=3, deadline=6))
    assert at_once.starts == (0, 0, 0)
    assert account(of, at_once).metrics["ram_peak"] == 10
    assert account(of, delayed).metrics["ram_peak"] == 5
    assert account(of, delayed).metrics["makespan"] == account(of, at_once).metrics["makespan"] == 6
