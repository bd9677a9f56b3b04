"""Nothing is hard-coded: whole experiments with other rates, weights, arrivals and clusters.

Exact levels are held against `scheduling_core.crosscheck`, published ones against the rules of the
public code written down again here, with a plain linear program from scipy for each step.
"""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from scheduling_core.allocation import Problem, agnostic, water_fill
from scheduling_core.allocation.analysis import allocation
from scheduling_core.crosscheck import run

INPUTS = Path(__file__).parents[2] / "artifacts/packages/gavel-allocation/inputs"
STEPS = 30


def table(name: str) -> list[dict[str, str]]:
    with (INPUTS / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def thousandths(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(round(1000 * low), round(1000 * high)).map(lambda n: n / 1000)


@st.composite
def experiments(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    """The bundled experiment, every input perturbed; 3 to 9 jobs arrive within 30 steps."""
    throughputs = [
        {k: v if k == "job_type" else repr(float(v) * draw(thousandths(0.5, 2))) for k, v in row.items()}
        for row in table("throughputs")
    ]
    jobs = [
        {**row, "arrival_step": draw(st.integers(1, STEPS)), "entity": draw(st.integers(0, 2)),
         "user_weight": draw(thousandths(0.5, 3))}
        for row in table("jobs")[: draw(st.integers(3, 9))]
    ]  # fmt: skip
    cluster = [{**row, "count": draw(st.integers(1, 5))} for row in table("cluster")]
    weights = [{**row, "weight": draw(thousandths(0.25, 4))} for row in table("weights")]
    return {"throughputs": throughputs, "jobs": jobs, "cluster": cluster, "weights": weights}


def written(tables: dict[str, list[dict[str, Any]]], folder: Path) -> dict[str, Path]:
    paths = {name: folder / f"{name}.csv" for name in tables}
    for name, rows in tables.items():
        with paths[name].open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    return paths


def leaves(tree: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(tree, dict):
        return {path: tree}
    return {p: v for key, value in tree.items() for p, v in leaves(value, f"{path}/{key}").items()}


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(experiments())
def test_a_perturbed_experiment_has_the_same_second_opinion(
    tmp_path: Path, experiment: dict[str, list[dict[str, Any]]]
) -> None:
    """Means, extremes, one job's mean and totals by number of jobs: two programs without common code."""
    inputs = written(experiment, tmp_path)
    parameters = {"STEPS": STEPS, "START_STEP": 5, "END_STEP": 25, "JOB_ID": 2}
    main = leaves(allocation(inputs, {**parameters, "MODES": "exact"}, 0)["outputs"]["exact"])
    other = leaves(run(inputs, parameters, 0)["outputs"]["exact"])
    assert any(path.endswith("/all/mean") for path in other)
    for path, value in other.items():
        expected = pytest.approx(value, rel=1e-8, abs=1e-8) if isinstance(value, float) else value
        assert main[path] == expected, path


class Knife(Exception):
    """A test of the public code that rounding would decide: no fair comparison."""


def published_levels(problem: Problem) -> np.ndarray[Any, Any]:
    """Levels by the public code's rules (numbered as in `water_filling`), each step a plain program."""
    a, s, capacity = problem.normalised, problem.workers, problem.capacity
    m, n = a.shape
    cap = (a * s[:, None]).max()
    levels, saturated = np.zeros(m), np.zeros(m, dtype=bool)
    usage = np.zeros((n + m, m * n + 1))
    for i in range(m):
        for j in range(n):
            usage[j, i * n + j] = s[i]
            usage[n + i, i * n + j] = 1
    limits = np.concatenate([capacity, np.ones(m)])
    progress = np.zeros((m, m * n + 1))
    for i in range(m):
        progress[i, i * n : (i + 1) * n] = a[i]

    def most(goal: np.ndarray[Any, Any], rows: np.ndarray[Any, Any], at_most: np.ndarray[Any, Any],
             highest: float | None) -> float:  # fmt: skip
        found = linprog(
            -goal, np.vstack([usage, rows]), np.concatenate([limits, at_most]),
            bounds=[(0, None)] * (m * n) + [(0, highest)], method="highs",
        )  # fmt: skip
        assert found.status == 0, found.message
        return float(-found.fun)

    while True:
        weights = problem.weights(saturated)
        filling = weights > 0
        slopes = weights / s
        rising = -progress.copy()
        rising[:, -1] = slopes
        increment = np.zeros(m * n + 1)
        increment[-1] = 1
        # (1), (2): the increment, capped once somebody isn't filling.
        step = most(increment, rising, -levels, None if filling.all() else cap)
        levels = levels + step * slopes
        new = np.zeros(m, dtype=bool)
        for i in np.flatnonzero(filling):  # (3): can't gain 0.01 %
            goal = progress[i].copy()
            gain = most(goal, -progress, -levels * (1 - 1e-8), 0) / levels[i] - 1.0001
            if abs(gain) < 2e-5:
                raise Knife
            new[i] = gain < 0
        if (abs(levels - 0.1) < 1e-5).any():
            raise Knife
        if ((saturated | new) & (levels > 1e-9) & (levels < 0.1)).any():  # (4)
            new = filling
        saturated = saturated | new
        if saturated.all() or not new.any():  # (5)
            return levels


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    jobs = draw(st.integers(1, 9))
    kinds = table("throughputs")
    rates = [
        [float(kinds[kind][gpu]) * draw(thousandths(0.5, 2)) for gpu in ("k80", "p100", "v100")]
        for kind in draw(st.lists(st.integers(0, len(kinds) - 1), min_size=jobs, max_size=jobs))
    ]
    some = lambda values: draw(st.lists(values, min_size=jobs, max_size=jobs))  # noqa: E731
    problem = Problem.of(
        rates,
        draw(st.lists(st.integers(1, 5), min_size=3, max_size=3)),
        entity=some(st.integers(0, 2)),
        entity_weights=draw(st.lists(thousandths(0.25, 4), min_size=3, max_size=3)),
        job_weights=some(thousandths(0.5, 3)),
    )
    return agnostic(problem) if draw(st.booleans()) else problem


@settings(max_examples=60)
@given(problems())
def test_published_levels_follow_from_its_rules_by_another_solver(problem: Problem) -> None:
    """Levels are unique off a knife's edge; the interior point's 1e-8 grows to some 1e-6."""
    try:
        expected = published_levels(problem)
    except Knife:
        assume(False)
    assert water_fill(problem, "published").levels == pytest.approx(expected, abs=1e-5, rel=1e-5)
