"""Three accounts of a schedule, written apart, agree on every figure; no change of a row goes unseen."""

import copy
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from admission_cases import per_tick, schedules, workloads
from hypothesis import assume, given
from hypothesis import strategies as st

from scheduling_core.admission.attempts import attempt_from_row
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.schedule import schedule_of
from scheduling_core.admission.validate import validate, validate_attempts
from scheduling_core.admission.validate.profiles import Stretches


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


@given(st.data())
def test_validator_metrics_and_a_look_at_every_tick_agree(data: st.DataObject) -> None:
    of = data.draw(workloads())
    made = data.draw(schedules(of))
    rows = plain([one.row() for one in of.attempts])
    claimed = metrics(of, made).integers()
    found = validate(rows, plain(made.row()), claimed)
    assert found.violations == ()
    assert found.metrics == claimed == per_tick(of, made)
    assert validate_attempts(rows, [attempt_from_row(row, "").row() for row in rows]) == ()


@given(st.data())
def test_they_agree_on_schedules_that_are_not_valid_too(data: st.DataObject) -> None:
    """Starts before the release, and before there is time."""
    of = data.draw(workloads(least=1))
    made = data.draw(schedules(of))
    starts = [data.draw(st.integers(-9, 9)) for _ in of.attempts]
    made = schedule_of(of, starts, made.policy, made.limits, made.images)
    found = validate([one.row() for one in of.attempts], made.row(), metrics(of, made).integers())
    late = {one.id for one, start in zip(of.attempts, starts, strict=True) if start < one.release}
    assert {violation.attempt for violation in found.violations} == late


@given(st.data())
def test_a_profile_holds_what_is_there_at_each_tick(data: st.DataObject) -> None:
    """The profile of slots against the attempts that run at each tick."""
    of = data.draw(workloads(least=1))
    made = data.draw(schedules(of))
    points = validate([one.row() for one in of.attempts], made.row()).profiles["slots"]
    ticks = range(max(start + one.ticks for one, start in zip(of.attempts, made.starts, strict=True)) + 1)
    for tick in ticks:
        running = sum(s <= tick < s + one.ticks for one, s in zip(of.attempts, made.starts, strict=True))
        assert running == next((value for at, value in reversed(points) if at <= tick), 0)
    assert points[-1] == [ticks[-1], 0]
    assert all(a[1] != b[1] and a[0] < b[0] for a, b in pairwise(points))


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a tree, of those that hold others too."""
    if path:
        yield path
    if isinstance(tree, dict | list):
        for key in tree if isinstance(tree, dict) else range(len(tree)):
            yield from leaves(tree[key], (*path, key))


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 9), st.floats(),
    st.sampled_from(["", "W", "A", "model", "x", "\ud800"]), st.lists(st.integers(0, 2), max_size=2),
    st.just({}), st.just(1 << 60),
)  # fmt: skip


@given(st.data())
def test_no_change_goes_unseen(data: st.DataObject) -> None:
    """A value replaced, taken out or doubled anywhere in the data: rejected, or the bytes are the same."""
    of = data.draw(workloads(least=1, most=3))
    made = data.draw(schedules(of))
    before = {
        "attempts": [one.row() for one in of.attempts],
        "schedule": {key: value for key, value in made.row().items() if key != "made_by"},
        "claimed": metrics(of, made).integers(),
    }
    after: Any = copy.deepcopy(before)
    path = data.draw(st.sampled_from([path for path in leaves(before) if len(path) > 1]))
    holder = after
    for key in path[:-1]:
        holder = holder[key]
    how = data.draw(st.sampled_from(["replace", "one more", "one less", "take out", "double"]))
    old = holder[path[-1]]
    if how in ("one more", "one less"):
        assume(type(old) is int)
        holder[path[-1]] = old + (1 if how == "one more" else -1)
    elif how == "replace":
        holder[path[-1]] = data.draw(JUNK)
    elif how == "take out":
        assume(path[0] != "claimed")  # what isn't claimed can't be wrong
        del holder[path[-1]]
    else:
        assume(isinstance(holder, list))
        holder.insert(path[-1], copy.deepcopy(old))
    same = json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)
    found = validate(after["attempts"], after["schedule"], after["claimed"])
    assert found.ok == same
    assert all(v.sentence[0].isupper() for v in found.violations)
    assert all(v.sentence.endswith(".") for v in found.violations)


def test_whole_numbers_beyond_64_bits_stay_exact() -> None:
    """Two amounts of 2^62 together are 2^63, one more than a signed 64-bit number holds."""
    profile = Stretches([0, 1], [3, 2**70]).holding([2**62, 2**62])
    assert profile.points == [[0, 2**62], [1, 2**63], [3, 2**62], [2**70, 0]]
    assert (profile.peak, profile.area) == (2**63, 2**62 * 3 + 2**62 * (2**70 - 1))
    assert Stretches([0], [2**40]).holding([2**40]).area == 2**80


def test_nothing_gives_nothing() -> None:
    for profile in (Stretches([], []).holding([]), Stretches([0], [5]).holding([0])):
        assert profile.points == []
        assert (profile.peak, profile.area, profile.busy, profile.first_above(0)) == (0, 0, 0, None)
