"""The joint experiment: one row a whole schedule, each accepted by the validator, or not listed."""

from dataclasses import replace
from typing import Any

import pytest
from admission_cases import attempt, workload

from scheduling_core.admission.attempts import Workload
from scheduling_core.admission.experiments import joint
from scheduling_core.admission.experiments.joint import run
from scheduling_core.admission.experiments.outcome import Outcome
from scheduling_core.admission.metrics import metrics
from scheduling_core.admission.replay import fifo
from scheduling_core.admission.schedule import Limits, Policy
from scheduling_core.admission.search import Goal, Measure, Resource
from scheduling_core.admission.search.front import Front, Point, dominates, front
from scheduling_core.admission.validate import validate
from scheduling_core.errors import SchedulingError

RAM, IMAGES = Goal(Resource.RAM), Goal(Resource.IMAGES, Measure.HOURS)
SLOTS = Goal(Resource.SLOTS)


def alternating(pairs: int = 4) -> Workload:
    return workload(
        *(
            attempt(
                f"a{k}", f"setup {4 + k % 3} model {10 + k} tool 3", image=f"i{k % 2}", task=f"t{k % 2}",
                image_kib=(2 + k % 2) << 10, assumed=("cpu_milli",),
            )
            for k in range(2 * pairs)
        )
    )  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Outcome:
    return run(alternating(), Limits(3), seed=3, budget=60_000, levels=3)


def table(outcome: Outcome) -> list[dict[str, Any]]:
    return [dict(zip(outcome.columns, row, strict=True)) for row in outcome.rows]


def test_each_row_is_one_whole_schedule_with_its_hash_and_all_its_figures(found: Outcome) -> None:
    of = alternating()
    rows = [a.row() for a in of.attempts]
    reference = metrics(of, fifo(of, Limits(3), Policy.ACTIVE))
    assert len(found.rows) == len(found.schedules) >= 4
    for row in table(found):
        schedule = found.schedules[row["schedule"]]
        assert row["sha256"] == schedule.sha256
        figures = metrics(of, schedule)
        assert validate(rows, schedule.row(), figures.integers()).violations == ()
        told = figures.table()
        assert {name: row[name] for name in told} == told
        assert row["ram peak over FIFO's"] == figures.ram.peak / reference.ram.peak
        assert row["images hours over FIFO's"] == figures.images.kib_ticks / reference.images.kib_ticks


def test_dominated_rows_are_those_that_another_row_beats(found: Outcome) -> None:
    rows = table(found)
    pairs = [(row["ram peak over FIFO's"], row["images hours over FIFO's"]) for row in rows]
    for row, pair in zip(rows, pairs, strict=True):
        assert row["dominated"] == ("yes" if any(dominates(other, pair) for other in pairs) else "no")
    # In two goals the volume is a sum of steps, from the lowest RAM on.
    steps, reached = 0.0, 1.0
    for x, y in sorted(set(pairs)):
        if y < reached and x < 1:
            steps, reached = steps + (1 - x) * (reached - y), y
    assert found.parameters["hypervolume"] == pytest.approx(steps, abs=1e-12)


def test_one_schedule_is_chosen_and_the_weights_are_told(found: Outcome) -> None:
    rows = table(found)
    chosen = [row for row in rows if row["chosen"] == "yes"]
    assert len(chosen) == 1
    assert chosen[0]["dominated"] == "no"
    mean = [row["ram peak over FIFO's"] + row["images hours over FIFO's"] for row in rows]
    assert chosen[0]["ram peak over FIFO's"] + chosen[0]["images hours over FIFO's"] == min(mean)
    assert found.parameters["weights"] == {"ram peak": 1.0, "images hours": 1.0}
    assert found.parameters["chosen"] == chosen[0]["sha256"]
    only_ram = run(alternating(), Limits(3), seed=3, budget=60_000, levels=3, weights={IMAGES: 0.0})
    assert only_ram.parameters["weights"] == {"ram peak": 1.0, "images hours": 0.0}
    (row,) = [row for row in table(only_ram) if row["chosen"] == "yes"]
    assert row["ram_peak_gib"] == min(row["ram_peak_gib"] for row in rows)


def test_no_value_is_below_its_bound(found: Outcome) -> None:
    for row in table(found):
        assert row["ram_peak_gib"] * (1 << 20) >= found.parameters["bounds"]["ram peak"]["value"]
        hours = found.parameters["bounds"]["images hours"]["value"] / (1 << 20) / 36_000
        assert row["image_gib_hours"] >= hours * (1 - 1e-12)


def test_the_chart_shows_every_schedule_and_says_what_is_assumed(found: Outcome) -> None:
    chart = found.charts["front"]
    values = chart["data"]["values"]
    assert [v["schedule"] for v in values] == [row[0] for row in found.rows]
    assert [v["kind"] for v in values].count("chosen by the weights") == 1
    beaten = {row["schedule"] for row in table(found) if row["dominated"] == "yes"}
    assert beaten <= {v["schedule"] for v in values if v["kind"] == "beaten"}
    x, y = (chart["layer"][-1]["encoding"][axis]["title"] for axis in "xy")
    assert (x, y) == ("Peak of reserved RAM (GiB)", "Image store over time (GiB-hours)")
    assert any("cpu_milli" in sentence for sentence in found.assumed)
    assert any("Hypervolume" in sentence for sentence in found.assumed)


def test_the_same_seed_gives_the_same_outcome(found: Outcome) -> None:
    again = run(alternating(), Limits(3), seed=3, budget=60_000, levels=3)
    assert (again.rows, again.parameters, again.charts) == (found.rows, found.parameters, found.charts)
    assert [s.row() for s in again.schedules.values()] == [s.row() for s in found.schedules.values()]


def tampered(looked: Front, change: Any) -> Front:
    """The front with its best point in the first goal changed, as a faulty search would give it."""
    target = min(looked.best, key=lambda point: point.values)
    return replace(looked, points=tuple(change(p) if p is target else p for p in looked.points))


def late(point: Point) -> Point:
    """One tick late, with the figures that this comes to: only the deadline is passed."""
    deadline = point.schedule.limits.deadline or 0
    starts = list(point.schedule.starts)
    starts[-1] = deadline - alternating().attempts[-1].ticks + 1
    made = replace(point.schedule, starts=tuple(starts))
    return replace(point, schedule=made, metrics=metrics(alternating(), made))


def flattered(point: Point) -> Point:
    """A peak that is told lower than it is."""
    peak = replace(point.metrics.ram, peak=point.metrics.ram.peak // 2)
    return replace(point, metrics=replace(point.metrics, ram=peak), values=(1, point.values[1]))


@pytest.mark.parametrize(("change", "word"), [(late, "deadline"), (flattered, "ram_peak")])
def test_a_schedule_that_the_validator_rejects_is_not_listed(
    monkeypatch: pytest.MonkeyPatch, found: Outcome, change: Any, word: str
) -> None:
    monkeypatch.setattr(joint, "front", lambda *a, **k: tampered(front(*a, **k), change))
    outcome = run(alternating(), Limits(3), seed=3, budget=60_000, levels=3)
    assert len(outcome.rows) == len(found.rows) - 1
    assert any(sentence.startswith("Not listed: ") and word in sentence for sentence in outcome.assumed)
    assert outcome.parameters["hypervolume"] < found.parameters["hypervolume"]
    for row in table(outcome):
        assert row["ram_peak_gib"] >= 2


def test_where_every_schedule_is_rejected_there_is_no_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_flattered(*arguments: Any, **how: Any) -> Front:
        looked = front(*arguments, **how)
        return replace(looked, points=tuple(flattered(point) for point in looked.points))

    monkeypatch.setattr(joint, "front", all_flattered)
    with pytest.raises(SchedulingError, match="The validator rejects every schedule"):
        run(alternating(), Limits(3), seed=3, budget=600, levels=2)


def test_three_goals_have_no_steps_in_a_chart_of_two() -> None:
    outcome = run(
        alternating(2), Limits(3), seed=3, budget=3_000, levels=2, goals=(RAM, IMAGES, SLOTS),
        weights={SLOTS: 2.0},
    )  # fmt: skip
    assert len(outcome.charts["front"]["layer"]) == 1
    assert outcome.parameters["weights"]["slots peak"] == 2.0
    with pytest.raises(SchedulingError, match="A weight is given for slots peak"):
        run(alternating(2), Limits(3), seed=3, budget=600, weights={SLOTS: 2.0})
