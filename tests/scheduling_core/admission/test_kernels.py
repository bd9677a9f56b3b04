"""The kernels in both forms against readable counterparts: list admission, use of a schedule, SGS, moves."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling_core.admission import replay
from scheduling_core.admission.kernels import accounting, calls, sgs
from scheduling_core.admission.metrics import use_of
from scheduling_core.compiled import is_compiled, plain_form
from scheduling_core.errors import SchedulingError

pytest.importorskip("numba")
FORMS = ("compiled", "plain")


@contextmanager
def form(name: str) -> Iterator[None]:
    """The calls with their kernels in one of the two forms."""
    if name == "plain":
        calls.accounting, calls.sgs = plain_form(accounting), plain_form(sgs)
    try:
        assert is_compiled(calls.accounting) == is_compiled(calls.sgs) == (name == "compiled")
        yield
    finally:
        calls.accounting, calls.sgs = accounting, sgs


def in_both(call: Callable[..., Any], *arguments: Any) -> Any:
    """What both forms answer, or the sentence with which both refuse."""
    answers = []
    for name in FORMS:
        with form(name):
            try:
                answers.append(call(*arguments))
            except SchedulingError as error:
                answers.append(str(error))
    assert answers[0] == answers[1]
    return answers[0]


@st.composite
def jobs(draw: st.DrawFn, least: int = 0) -> tuple[Any, ...]:
    """Few ticks and few units, so that ties and full resources are common; jobs of 0 ticks among them."""
    n = draw(st.integers(0, 9))
    resources = draw(st.integers(0, 3))
    capacities = draw(st.lists(st.integers(0, 6), min_size=resources, max_size=resources))
    durations = draw(st.lists(st.integers(least, 6), min_size=n, max_size=n))
    releases = draw(st.lists(st.sampled_from([0, 0, 1, 4, 9]), min_size=n, max_size=n))
    demands = [[draw(st.integers(0, c)) for c in capacities] for _ in range(n)]
    return durations, releases, demands, capacities, draw(st.permutations(range(n)))


def earliest_starts(durations, releases, demands, capacities, order):  # type: ignore[no-untyped-def]
    """Serial schedule generation by asking at every tick from the release on whether the whole job fits."""
    held: dict[int, list[int]] = {}
    starts = [0] * len(durations)
    for job in order:
        start = releases[job]
        while not all(
            h + w <= c
            for t in range(start, start + durations[job])
            for h, w, c in zip(held.get(t, [0] * len(capacities)), demands[job], capacities, strict=True)
        ):
            start += 1
        for t in range(start, start + durations[job]):
            held[t] = [h + w for h, w in zip(held.get(t, [0] * len(capacities)), demands[job], strict=True)]
        starts[job] = start
    return starts


def peak_by_tick(intervals: list[tuple[int, int, int]]) -> int:
    ticks = range(max((end for _, end, _ in intervals), default=0))
    return max((sum(a for s, e, a in intervals if s <= t < e) for t in ticks), default=0)


@given(jobs())
def test_admission_equals_the_readable_reference(given_jobs: Any) -> None:
    assert in_both(calls.admission_starts, *given_jobs) == replay.list_admission(*given_jobs)


@given(jobs())
def test_serial_generation_equals_asking_at_every_tick(given_jobs: Any) -> None:
    assert in_both(calls.serial_starts, *given_jobs) == earliest_starts(*given_jobs)


@given(jobs(), st.randoms(use_true_random=False))
def test_whole_use_equals_sweep_and_ticks(given_jobs: Any, draw: random.Random) -> None:
    durations, _, demands, capacities, _ = given_jobs
    starts = [draw.randrange(12) for _ in durations]
    expected = []
    for r in range(len(capacities) if durations else 0):
        intervals = [(s, s + d, row[r]) for s, d, row in zip(starts, durations, demands, strict=True)]
        use = use_of(intervals)
        assert use.peak == peak_by_tick(intervals)
        expected.append((use.peak, use.area))
    assert in_both(calls.whole_uses, starts, durations, demands) == expected


def made(seed: int, n: int) -> tuple[Any, ...]:
    """Jobs as many and as long as real ones: several digits of the sort, a deep heap, a long skyline."""
    draw = random.Random(seed)
    durations = [draw.randrange(1, 70_000) for _ in range(n)]
    releases = [draw.randrange(0, 200_000) if draw.random() < 0.3 else 0 for _ in range(n)]
    demands = [
        [draw.choice([1, 2, 4]), draw.choice([2, 4, 8, 16]) << 20, draw.randrange(9)] for _ in range(n)
    ]
    return durations, releases, demands, [16, 64 << 20, 40], draw.sample(range(n), n)


def test_many_jobs_equal_references() -> None:
    many = made(3, 300)
    durations, releases, demands, capacities, order = many
    assert in_both(calls.admission_starts, *many) == replay.list_admission(*many)
    starts = in_both(calls.serial_starts, *many)
    # each start is feasible, and no earlier moment at which anything ends (or its release) would do
    placed: list[int] = []
    for job in order:
        moments = sorted({releases[job], *(starts[p] + durations[p] for p in placed)})
        found = next(m for m in moments if m >= releases[job] and fits(many, starts, placed, job, m))
        assert starts[job] == found
        placed.append(job)
    uses = in_both(calls.whole_uses, starts, durations, demands)
    for r, (peak, area) in enumerate(uses):
        use = use_of((s, s + d, row[r]) for s, d, row in zip(starts, durations, demands, strict=True))
        assert (peak, area) == (use.peak, use.area)
        assert peak <= capacities[r]


def fits(many: Any, starts: list[int], placed: list[int], job: int, moment: int) -> bool:
    """Whether a job may run from a moment on beside those placed: asked where anything starts in its time."""
    durations, _, demands, capacities, _ = many
    end = moment + durations[job]
    beside = [p for p in placed if starts[p] < end and starts[p] + durations[p] > moment]
    for tick in {moment, *(starts[p] for p in beside if starts[p] > moment)}:
        running = [p for p in beside if starts[p] <= tick < starts[p] + durations[p]]
        if any(demands[job][r] + sum(demands[p][r] for p in running) > c for r, c in enumerate(capacities)):
            return False
    return True


@st.composite
def segmented(draw: st.DrawFn) -> tuple[Any, ...]:
    """Starts, runs (some attempts without any, some runs that touch), amounts, and a horizon that is met."""
    n = draw(st.integers(0, 5))
    runs = []
    for _ in range(n):
        edges = sorted(draw(st.lists(st.integers(0, 700), max_size=6)))
        pairs = list(zip(edges[::2], edges[1::2], strict=False))
        runs.append([(begin, end) for begin, end in pairs if begin < end])
    starts = draw(st.lists(st.integers(0, 600), min_size=n, max_size=n))
    amounts = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    last = max((s + of_one[-1][1] for s, of_one in zip(starts, runs, strict=True) if of_one), default=0)
    return starts, runs, amounts, max(last, max(starts, default=0)) + draw(st.integers(0, 300))


def held(starts: list[int], runs: Any, amounts: list[int]) -> list[tuple[int, int, int]]:
    return [
        (start + begin, start + end, amount)
        for start, of_one, amount in zip(starts, runs, amounts, strict=True)
        for begin, end in of_one
    ]


@given(segmented())
def test_segment_use_equals_the_sweep(case: Any) -> None:
    starts, runs, amounts, _ = case
    use = use_of(held(starts, runs, amounts))
    assert in_both(calls.segment_use, *case) == (use.peak, use.area)


@given(segmented(), st.randoms(use_true_random=False))
def test_moves_equal_evaluating_anew(case: Any, draw: random.Random) -> None:
    starts, runs, amounts, horizon = case
    moves = []
    for _ in range(6 if starts else 0):
        attempt = draw.randrange(len(starts))
        moves.append((attempt, draw.randint(0, horizon - (runs[attempt][-1][1] if runs[attempt] else 0))))

    def moved() -> list[int]:
        profile = calls.SegmentProfile(*case)
        peaks = [profile.peak, *(profile.move(*move) for move in moves)]
        assert profile.peak == peaks[-1]
        return [*peaks, *profile.starts]

    now = list(starts)
    expected = [use_of(held(now, runs, amounts)).peak]
    for attempt, start in moves:
        now[attempt] = start
        expected.append(use_of(held(now, runs, amounts)).peak)
    assert in_both(moved) == [*expected, *now]


def test_the_full_evaluation_leaves_its_grid_clear() -> None:
    """A grid is used again and again: what one call left would count in the next."""
    kernels = plain_form(accounting)
    grid, found = [0] * 10, [0, 0]
    for _ in range(2):
        kernels.segment_use([1, 2], [0, 1, 3], [0, 0, 4], [3, 2, 7], [5, 2], grid, found)
        # 5 over 1-4, 2 over 2-4 and 6-9: 7 at most; 5 x 3 + 2 x (2 + 3)
        assert found == [7, 25]
        assert grid == [0] * 10


def test_a_move_sums_few_ticks_anew() -> None:
    """A grid of 100,000 ticks: moving one attempt of 300 ticks looks at the blocks it lies in."""
    kernels = plain_form(accounting)
    grid = Counted([0] * 100_000)
    blocks = -(-len(grid) // 256)
    sums, tops = [0] * blocks, [0] * blocks
    runs = [0, 1], [0], [300], [7]
    kernels.put(0, 50_000, 1, *runs, grid)
    kernels.sum_blocks(grid, 0, blocks - 1, sums, tops)
    grid.read = 0
    assert kernels.move(0, 10, [50_000], *runs, grid, sums, tops) == 7
    assert grid.read <= 2 * 3 * 256 + 4


class Counted(list[int]):
    """A list that counts what is read from it."""

    read = 0

    def __getitem__(self, place: Any) -> Any:
        self.read += 1
        return super().__getitem__(place)


def test_equal_ticks_release_before_they_take() -> None:
    """Two jobs that fill the resource follow each other without a gap, and never stand on each other."""
    both = [3, 4], [0, 0], [[2], [2]], [2], [0, 1]
    assert in_both(calls.admission_starts, *both) == [0, 3]
    assert in_both(calls.serial_starts, *both) == [0, 3]
    assert in_both(calls.whole_uses, [0, 3], [3, 4], [[2], [2]]) == [(2, 14)]
    assert in_both(calls.segment_use, [0, 3], [[(0, 3)], [(0, 4)]], [2, 2], 7) == (2, 14)


def test_admission_blocks_where_serial_generation_fills_in() -> None:
    """By hand: the second job waits for all of the resource, and the third holds beside the first."""
    three = [5, 2, 3], [0, 0, 1], [[1], [2], [1]], [2], [0, 1, 2]
    assert in_both(calls.admission_starts, *three) == [0, 5, 7]
    assert in_both(calls.serial_starts, *three) == [0, 5, 1]


@pytest.mark.parametrize(
    ("call", "arguments", "answer"),
    [
        (calls.admission_starts, ([], [], [], [4], []), []),
        (calls.serial_starts, ([], [], [], [4], []), []),
        (calls.admission_starts, ([3, 3], [1, 0], [[], []], [], [1, 0]), [1, 0]),
        (calls.serial_starts, ([3, 3], [1, 0], [[], []], [], [1, 0]), [1, 0]),
        (calls.admission_starts, ([3], [0], [[0]], [0], [0]), [0]),
        (calls.whole_uses, ([], [], []), []),
        (calls.whole_uses, ([4], [0], [[7]]), [(0, 0)]),
        (calls.segment_use, ([], [], [], 0), (0, 0)),
        (calls.segment_use, ([3], [[]], [7], 3), (0, 0)),
    ],
)
def test_nothing_at_all(call: Callable[..., Any], arguments: Any, answer: Any) -> None:
    assert in_both(call, *arguments) == answer


def test_numbers_near_the_bound_are_exact() -> None:
    """Two jobs have one bit of the key: ticks stay below 2**61, areas below 2**62."""
    long = 1 << 59
    jobs_ = [long, long], [long, 0], [[3], [3]], [(1 << 62) - 1], [0, 1]
    assert in_both(calls.admission_starts, *jobs_) == replay.list_admission(*jobs_) == [long, long]
    assert in_both(calls.serial_starts, *jobs_) == [long, 0]
    assert in_both(calls.whole_uses, [long, 0], [long, long], [[3], [3]]) == [(3, 6 * long)]
    large = (1 << 61) - 1
    assert in_both(calls.segment_use, [0], [[(0, 2)]], [large], 2) == (large, 2 * large)


@pytest.mark.parametrize(
    ("call", "arguments", "sentence"),
    [
        (calls.admission_starts, ([1], [0], [[1]], [1 << 62], [0]), "capacities isn't a whole number"),
        (calls.admission_starts, ([1], [0], [[10**30]], [1], [0]), "demands isn't a whole number"),
        (calls.serial_starts, ([1, 1], [1 << 61, 0], [[1], [1]], [1], [0, 1]), "may last until tick"),
        (calls.serial_starts, ([1 << 60] * 2, [0, 0], [[1], [1]], [1], [0, 1]), "may last until tick"),
        (calls.whole_uses, ([0], [1 << 40], [[1 << 22]]), "may pass 2**62"),
        (calls.whole_uses, ([1 << 61], [1], [[1]]), "may last until tick"),
        (calls.whole_uses, ([0, 0], [0, 0], [[1 << 61], [1 << 61]]), "may pass 2**62"),
        (calls.segment_use, ([0], [[(0, 2)]], [1 << 61], 2), "may pass 2**62"),
        (calls.segment_use, ([0], [[(0, 1)]], [1], calls.LONGEST_GRID + 1), "The horizon is"),
        (calls.segment_use, ([0], [[(0, 4)]], [1], 3), "Attempt 0 from tick 0 holds until 4"),
        (calls.segment_use, ([0], [[(0, 4), (3, 5)]], [1], 9), "overlap, are empty or don't ascend"),
        (calls.segment_use, ([0], [[(2, 2)]], [1], 9), "overlap, are empty or don't ascend"),
        (calls.segment_use, ([0], [[(2,)]], [1], 9), "aren't 1 lists of (begin, end)"),
        (calls.admission_starts, ([1.5], [0], [[1]], [1], [0]), "durations isn't a whole number"),
        (calls.admission_starts, ([True], [0], [[1]], [1], [0]), "durations isn't a whole number"),
        (calls.admission_starts, ([-1], [0], [[1]], [1], [0]), "durations isn't a whole number"),
        (calls.admission_starts, ([1], [0, 0], [[1]], [1], [0]), "There are 2 releases, expected 1"),
        (calls.admission_starts, ([1, 1], [0, 0], [[1], []], [1], [0, 1]), "demands differ in length"),
        (calls.admission_starts, ([1], [0], [[1, 1]], [1], [0]), "expected (1, 1)"),
        (calls.admission_starts, ([1, 1], [0, 0], [[1], [1]], [1], [0, 0]), "each of the 2 jobs once"),
        (calls.serial_starts, ([1], [0], [[2]], [1], [0]), "Job 0 wants [2], more than there is: [1]."),
    ],
)
def test_what_is_refused(call: Callable[..., Any], arguments: Any, sentence: str) -> None:
    refusal = in_both(call, *arguments)
    assert isinstance(refusal, str), refusal
    assert sentence in refusal


def test_a_refused_move_moves_nothing() -> None:
    profile = calls.SegmentProfile([0, 2], [[(0, 3)], [(0, 3)]], [1, 1], 6)
    for attempt, start in ((0, 4), (0, -1), (2, 0), (-1, 0)):
        with pytest.raises(SchedulingError):
            profile.move(attempt, start)
    assert profile.starts == [0, 2]
    assert profile.peak == 2
    assert profile.move(0, 0) == 2
    assert profile.move(1, 3) == 1


@given(jobs(), st.data())
def test_refusals_are_those_of_the_reference(given_jobs: Any, data: st.DataObject) -> None:
    durations, releases, demands, capacities, order = given_jobs
    if not durations or not capacities:
        return
    for job in data.draw(st.sets(st.integers(0, len(durations) - 1), min_size=1)):
        demands[job][-1] = capacities[-1] + 1
    with pytest.raises(SchedulingError) as reference:
        replay.list_admission(durations, releases, demands, capacities, order)
    for call in (calls.admission_starts, calls.serial_starts):
        assert in_both(call, durations, releases, demands, capacities, order) == str(reference.value)
