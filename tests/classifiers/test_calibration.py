"""Cross-fitted calibration: nothing leaks, the choice is by its rule, and a known truth is found again."""

import json

import numpy as np
import numpy.typing as npt
import pytest

from classifiers.calibration import Calibration, choose, cross_fit, degenerate_folds
from classifiers.calibrators import METHODS, Method, calibrator, calibrator_from_json
from classifiers.errors import ClassifierError
from classifiers.metrics import sample
from classifiers.metrics.line import Estimate, calibration_line

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

N = 400


def scores(seed: int, n: int = N) -> tuple[Floats, Bools, Floats]:
    """Log-odds of the truth, labels drawn from it, and scores that are too weak and far too high."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(-2, 1.5, n)
    return truth, rng.random(n) < 1 / (1 + np.exp(-truth)), 0.4 * truth + 1.5


def folds(n: int = N, count: int = 5) -> npt.NDArray[np.int64]:
    return np.arange(n) % count


def fitted(seed: int = 0, **changed: object) -> Calibration:
    _, y, s = scores(seed)
    given = {"scores": s, "y": y, "folds": folds(), "seed": 1, "replicates": 100, **changed}
    return cross_fit(**given)  # type: ignore[arg-type]


# Nothing leaks


@pytest.mark.parametrize("nested", [False, True])
def test_a_folds_own_labels_have_no_part_in_its_probabilities(nested: bool) -> None:
    """With the labels of fold 2 turned round, its choice, fit and probabilities stay to the last bit."""
    _, y, s = scores(0)
    own = folds() == 2
    matrix = {"nested": np.array([s + 0.1 * k for k in range(5)])} if nested else {}
    before, after = fitted(**matrix), fitted(y=np.where(own, ~y, y), **matrix)
    assert before.probability is not None
    assert after.probability is not None
    assert after.probability[own].tobytes() == before.probability[own].tobytes()
    assert after.probability[~own].tobytes() != before.probability[~own].tobytes()
    assert after.folds[2].choice == before.folds[2].choice
    assert after.folds[2].calibrator.to_json() == before.folds[2].calibrator.to_json()


def test_weights_of_the_fold_have_no_part_either() -> None:
    own = folds() == 2
    weights = np.where(own, 9.0, 1.0)
    before, after = fitted(weights=np.ones(N)), fitted(weights=weights)
    assert before.probability is not None
    assert after.probability is not None
    assert after.probability[own].tobytes() == before.probability[own].tobytes()


def test_a_folds_calibrator_is_fitted_on_the_others() -> None:
    _, y, s = scores(0)
    for k, fold in enumerate(fitted().folds):
        others = folds() != k
        by_hand = calibrator(fold.choice.method).fit(s[others], y[others])
        assert fold.calibrator.to_json() == by_hand.to_json()


def test_nested_scores_take_the_place_of_pooled_ones() -> None:
    """The same scores give the same result; row k stands in for what fold k's calibrator learns from."""
    _, y, s = scores(0)
    same = np.array([np.where(folds() == k, np.nan, s) for k in range(5)])
    pooled, nested = fitted(), fitted(nested=same)
    assert pooled.probability is not None
    assert nested.probability is not None
    assert nested.probability.tobytes() == pooled.probability.tobytes()
    same[3] *= 2
    changed = fitted(nested=same)
    others = folds() != 3
    by_hand = calibrator(changed.folds[3].choice.method).fit(2 * s[others], y[others])
    assert changed.folds[3].calibrator.to_json() == by_hand.to_json()
    assert changed.folds[0].calibrator.to_json() == pooled.folds[0].calibrator.to_json()


def test_the_final_calibrator_is_fitted_on_all() -> None:
    _, y, s = scores(0)
    found = fitted()
    assert found.choice is not None
    assert found.final is not None
    assert found.final.to_json() == calibrator(found.choice.method).fit(s, y).to_json()
    again = calibrator_from_json(json.loads(json.dumps(found.to_json()["final"])))
    assert again.predict(s).tobytes() == found.final.predict(s).tobytes()


# The choice


def losses(**of: list[float]) -> dict[Method, Floats]:
    """Probabilities of four positives that have these log losses."""
    return {method: np.exp(-np.array(loss)) for method, loss in of.items()}  # type: ignore[misc]


def test_the_simplest_within_one_standard_error_is_chosen() -> None:
    """Beta loses least. Sigmoid's differences from it are 0.3, -0.1, 0.3, -0.1: mean 0.1 and, with n - 1,
    a standard error of sqrt(0.16 / 12) = 0.115."""
    made = sample([1.0] * 4, [1] * 4)
    close = losses(sigmoid=[1.3, 0.9, 1.3, 0.9], beta=[1.0] * 4, isotonic=[1.1] * 4)
    choice = choose(close, made)
    assert choice.method == "sigmoid"
    assert choice.losses["sigmoid"] == pytest.approx(1.1)
    assert choice.errors["sigmoid"] == pytest.approx((0.16 / 12) ** 0.5)
    # A difference that is always 0.1 is no accident.
    sure = losses(sigmoid=[1.1] * 4, beta=[1.0] * 4, isotonic=[1.1] * 4)
    assert choose(sure, made).method == "beta"


def test_what_cannot_set_the_mean_is_chosen_only_for_the_least_loss() -> None:
    made = sample([1.0] * 4, [1] * 4)
    spread = [1.3, 0.9, 1.3, 0.9]
    near = losses(none=spread, temperature=spread, sigmoid=[1.0] * 4, beta=[1.0] * 4)
    assert choose(near, made).method == "sigmoid"
    least = losses(none=[0.9] * 4, temperature=[0.95] * 4, sigmoid=[1.0] * 4)
    assert choose(least, made).method == "none"


def test_errors_of_the_choice_are_by_group_and_weight() -> None:
    """Two groups of two with mean differences 0.2 and 0: half their difference, 0.1, is the error of
    the mean of two groups."""
    grouped = sample([1.0] * 4, [1] * 4, groups=[0, 0, 1, 1])
    choice = choose(losses(sigmoid=[1.3, 1.1, 1.1, 0.9], beta=[1.0] * 4), grouped)
    assert choice.errors["sigmoid"] == pytest.approx(0.1)
    heavy = sample([1.0] * 2, [1] * 2, weights=[3, 1])
    assert choose(losses(beta=[1.0, 2.0]), heavy).losses["beta"] == pytest.approx(1.25)


def test_all_methods_are_compared_in_every_fold() -> None:
    found = fitted()
    assert found.choice is not None
    assert [fold.fold for fold in found.folds] == ["0", "1", "2", "3", "4"]
    for choice in (found.choice, *(fold.choice for fold in found.folds)):
        assert tuple(choice.losses) == METHODS
        assert choice.errors[min(choice.losses, key=lambda m: choice.losses[m])] == 0


# States


def test_too_few_positives() -> None:
    y = np.arange(N) < 19
    found = fitted(y=y)
    assert (found.status, found.probability, found.final, found.before) == (
        "insufficient_support",
        *[None] * 3,
    )
    assert (
        found.reason == "19 positives worth 19.0 under their weights, expected at least 20 worth at least 10"
    )
    assert fitted(y=np.arange(N) < 20).status == "available"


def test_positives_that_weigh_too_unevenly() -> None:
    y = np.arange(N) < 60
    weights = np.where(np.arange(N) == 0, 1000.0, 1.0)
    found = fitted(y=y, weights=weights)
    assert (found.status, found.support.positives) == ("insufficient_support", 60)
    assert found.support.effective_positives < 10


def test_positives_in_two_folds_only() -> None:
    """Without both of them nothing could be fitted, which the choice inside would have to do."""
    y = np.isin(folds(), (1, 4)) & (np.arange(N) < 200)
    found = fitted(y=y)
    assert found.status == "fold_degenerate"
    assert found.reason == "all 80 positives lie in fold 1 and 4, expected some in at least 3 folds"
    assert degenerate_folds(y | (np.arange(N) == 2), folds(), list("01234")) is None
    assert json.loads(json.dumps(found.to_json()))["folds"] == []


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"folds": np.arange(N) % 2}, "there are 2 folds, expected at least 3"),
        (
            {"folds": np.arange(N - 1) % 5},
            "there are folds of the shape (399,), expected one for each of 400",
        ),
        (
            {"groups": np.arange(N) // 2},
            "records 0 and 1 are of one group but lie in folds 0 and 1, expected one fold a group",
        ),
        ({"nested": np.zeros((4, N))}, "nested scores have the shape (4, 400), expected (5, 400)"),
        ({"nested": np.full((5, N), np.nan)}, "nested score of record 1 without fold 0 is nan"),
        ({"weights": np.zeros(N)}, "weight of record 0 is 0.0, expected a number above 0"),
        ({"scale": "probability"}, "expected a probability, 0 to 1"),
        ({"y": np.full(N, np.nan)}, "label of record 0 is nan, expected 0 or 1"),
    ],
)
def test_input_that_makes_no_sense(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(ClassifierError) as error:
        fitted(**changed)
    assert sentence in str(error.value)


def test_groups_within_folds_widen_intervals_and_nothing_else() -> None:
    groups = np.arange(N) % 40
    alone, grouped = fitted(), fitted(groups=groups)
    assert alone.after is not None
    assert grouped.after is not None
    assert grouped.after.brier == alone.after.brier
    assert grouped.after.line.slope != alone.after.line.slope


def test_the_same_input_gives_the_same_bytes() -> None:
    one, two = fitted(), fitted()
    assert json.dumps(one.to_json(), allow_nan=False) == json.dumps(two.to_json(), allow_nan=False)
    assert one.probability is not None
    assert two.probability is not None
    assert one.probability.tobytes() == two.probability.tobytes()


# A known truth


def _covers(estimate: Estimate | None, value: float) -> bool:
    return estimate is not None and estimate.low <= value <= estimate.high


def test_calibrated_heads_are_calibrated_and_others_are_found_out() -> None:
    """24 seeded draws of about 75 positives. Before, the log-odds were squeezed to 0.4 and raised by 1.5.

    At least 95 % of intervals cover slope 1 and intercept 0 afterwards, less 4 binomial standard errors
    (18 %): cross-fitted lines cover more often, since the same records, fold by fold, fit and judge. So
    new records judge too: on 20,000 of them the final calibrators' lines must be right on average,
    within 4 standard errors over the draws. Raw scores have neither, in every draw.
    """
    covered, found_out, fresh = np.zeros(2), 0, []
    _, new_y, new_s = scores(10_000, 20_000)
    for seed in range(24):
        found = fitted(seed)
        assert found.before is not None
        assert found.after is not None
        assert found.final is not None
        covered += [_covers(found.after.line.slope, 1), _covers(found.after.line.intercept, 0)]
        found_out += not _covers(found.before.line.slope, 1) and not _covers(found.before.line.intercept, 0)
        assert found.after.brier_skill.low is not None
        assert found.after.brier_skill.low > 0
        line = calibration_line(sample(found.final.predict(new_s), new_y))
        assert line.slope is not None
        fresh.append([line.slope.value, line.intercept.value])
    assert (covered / 24 >= 0.95 - 0.18).all()
    assert found_out == 24
    error = np.std(fresh, axis=0) / 24**0.5
    assert (np.abs(np.mean(fresh, axis=0) - [1, 0]) < 4 * error).all()


def test_probabilities_come_near_the_truth() -> None:
    """Of 4,000 records, calibrated probabilities stray from the true ones by less than a tenth of before."""
    truth, y, s = scores(3, 4000)
    found = cross_fit(s, y, folds=folds(4000), seed=1, replicates=100)
    assert found.probability is not None
    p = 1 / (1 + np.exp(-truth))
    raw = 1 / (1 + np.exp(-s))
    assert np.abs(found.probability - p).mean() < 0.1 * np.abs(raw - p).mean()
