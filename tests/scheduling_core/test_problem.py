"""What an allocation problem refuses, and how weights and rates are derived."""

import math
from typing import Any

import numpy as np
import pytest

from scheduling_core.allocation import Problem, SchedulingError, agnostic, water_fill

GOOD: dict[str, Any] = {"rates": [[1, 2], [3, 4]], "capacity": [1, 1]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rates": []}, "rates has shape (0,), expected a non-empty matrix of jobs by types."),
        ({"rates": [[]]}, "rates has shape (1, 0), expected a non-empty matrix"),
        ({"rates": [[1, math.nan], [1, 1]]}, "rates holds NaN or infinity"),
        ({"rates": [[1, math.inf], [1, 1]]}, "rates holds NaN or infinity"),
        ({"rates": [[1, -2], [1, 1]]}, "The rate of job 0 on type 1 is -2.0, expected 0 or more."),
        ({"rates": [[1, 2], [0, 0]]}, "Job 1 has rate 0 on every type"),
        ({"rates": [["fast", 2], [1, 1]]}, "rates holds something else than numbers."),
        ({"capacity": [1]}, "capacity has shape (1,), expected (2,)."),
        ({"capacity": [1, 0]}, "capacity[1] is 0.0, expected a number above 0."),
        ({"workers": [1, -1]}, "workers[1] is -1.0, expected a number above 0."),
        ({"job_weights": [0, 1]}, "job_weights[0] is 0.0, expected a number above 0."),
        ({"entity_weights": [math.nan]}, "entity_weights holds NaN or infinity"),
        ({"entity_weights": []}, "entity_weights has shape (0,), expected a non-empty list."),
        ({"entity": [0, 0.5]}, "entity holds a fraction, expected whole numbers."),
        (
            {"entity": [0, 2], "entity_weights": [1, 1]},
            "Job 1 belongs to entity 2, expected 0 to 1",
        ),
        ({"entity": [0, -1]}, "Job 1 belongs to entity -1"),
        ({"split": "lottery"}, "split is 'lottery', expected 'fairness' or 'fifo'."),
    ],
)
def test_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchedulingError) as error:
        Problem.of(**{**GOOD, **change})
    assert sentence in str(error.value)


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(SchedulingError, match="mode is 'fast', expected 'exact', 'published' or"):
        water_fill(Problem.of(**GOOD), "fast")  # type: ignore[arg-type]


def test_rates_are_normalised_by_an_even_share() -> None:
    """One GPU-hour on each of 1 + 3 GPUs: (2 * 1 + 4 * 3) / 4 = 3.5 steps/s count as 1."""
    problem = Problem.of([[2, 4]], [1, 3])
    assert problem.normalised.tolist() == [[2 / 3.5, 4 / 3.5]]
    assert problem.progress(np.array([[0.25, 0.75]])).tolist() == [1.0]


def test_agnostic_sees_equal_rates() -> None:
    assert agnostic(Problem.of(**GOOD)).normalised.tolist() == [[1, 1], [1, 1]]


def test_a_saturated_job_leaves_its_share_to_its_entity() -> None:
    problem = Problem.of(
        np.ones((4, 1)), [1], entity=[0, 0, 1, 1], entity_weights=[1, 2], job_weights=[1, 3, 1, 1]
    )
    saturated = np.array([False, False, True, False])
    assert problem.weights(saturated).tolist() == [0.25, 0.75, 0.0, 2.0]
    saturated[3] = True
    assert problem.weights(saturated).tolist() == [0.25, 0.75, 0.0, 0.0]


def test_fifo_fills_the_first_live_job_of_each_entity() -> None:
    problem = Problem.of(np.ones((4, 1)), [1], entity=[1, 0, 0, 1], entity_weights=[1, 2], split="fifo")
    assert problem.weights(np.array([True, False, False, False])).tolist() == [0, 1, 0, 2]


def test_arrays_are_read_only_copies() -> None:
    rates = np.ones((1, 1))
    problem = Problem.of(rates, [1])
    rates[0, 0] = 5
    assert problem.rates[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.rates[0, 0] = 2
