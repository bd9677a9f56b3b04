"""The maturity gate: whether a student has stopped changing, so that its scores may be called mature.

`published` is the MétaCan study's own rule, which reads three numbers of each round. It is one-sided
(a falling average precision passes it) and lies inside the noise of a few positives. `strict` asks for
evidence of no change instead: paired bootstrap intervals inside the same limits, design-weighted, from
the hold-out's scores, and beginning anew when the panel of raters changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classifiers.errors import ClassifierError
from classifiers.ranking import weighted_average_precision, weighted_spearman

WINDOW = 5
LAST = 3
MAX_GAIN = 0.02
MAX_CHURN = 0.05
MIN_SPEARMAN = 0.98
BATCH = 250
"""Bootstrap replicates at a time: bounds memory to BATCH x n numbers."""

ConditionName = Literal["average_precision", "churn", "spearman"]
CONDITIONS: tuple[ConditionName, ...] = ("average_precision", "churn", "spearman")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TrainingRound:
    """What one training round says of the hold-out. Churn and Spearman are against the round before."""

    number: int
    average_precision: float
    churn: float | None = None
    spearman: float | None = None
    panel: str = ""


@dataclass(frozen=True)
class Condition:
    """One condition of a gate: None where the rounds are too few, or lack what it needs."""

    name: ConditionName
    passed: bool | None
    sentence: str


@dataclass(frozen=True)
class Verdict:
    """A gate's verdict: passed only where every condition is known and holds; failed where one doesn't."""

    gate: Literal["published", "strict"]
    conditions: tuple[Condition, ...]

    @property
    def passed(self) -> bool | None:
        """True, False, or None: not known yet, which isn't passed."""
        states = [c.passed for c in self.conditions]
        if any(s is False for s in states):
            return False
        return None if None in states else True

    @property
    def maturity(self) -> Literal["passed", "not_passed", "unknown"]:
        """The word that a release carries."""
        return {True: "passed", False: "not_passed", None: "unknown"}[self.passed]  # type: ignore[return-value]


def churn(before: Sequence[object], after: Sequence[object]) -> float | None:
    """|A xor B| / |A or B| of two sets of positives; None where both are empty."""
    a, b = set(before), set(after)
    return len(a ^ b) / len(a | b) if a | b else None


def published_gate(rounds: Sequence[TrainingRound]) -> Verdict:
    """The study's rule on rounds in their order: best AP of the last 5 gains less than 2 % on the AP
    before them; churn below 0.05, and Spearman above 0.98, in each of the last 3."""
    _in_order(rounds)
    return Verdict(
        "published",
        (
            _gain(rounds),
            _each_of_last(rounds, "churn", f"below {MAX_CHURN:g}", lambda v: v < MAX_CHURN),
            _each_of_last(rounds, "spearman", f"above {MIN_SPEARMAN:g}", lambda v: v > MIN_SPEARMAN),
        ),
    )


def _gain(rounds: Sequence[TrainingRound]) -> Condition:
    if len(rounds) <= WINDOW:
        return Condition(
            "average_precision", None, f"{_rounds(len(rounds))}; {WINDOW + 1} are needed for the gain in AP"
        )
    if lacking := [r.number for r in rounds[-WINDOW - 1 :] if np.isnan(r.average_precision)]:
        return Condition("average_precision", None, f"the AP of round {lacking[0]} isn't known")
    before, best = rounds[-WINDOW - 1], max(rounds[-WINDOW:], key=lambda r: r.average_precision)
    if before.average_precision <= 0:
        return Condition(
            "average_precision", None, f"the AP of round {before.number} is 0, so no gain on it can be given"
        )
    gain = best.average_precision / before.average_precision - 1
    return Condition(
        "average_precision",
        gain < MAX_GAIN,
        f"best AP of the last {WINDOW} rounds {best.average_precision:.4f} (round {best.number}) against "
        f"{before.average_precision:.4f} before them (round {before.number}): a gain of {100 * gain:.1f} %, "
        f"to be below {100 * MAX_GAIN:g} %",
    )


def _each_of_last(
    rounds: Sequence[TrainingRound],
    name: Literal["churn", "spearman"],
    limit: str,
    holds: Callable[[float], bool],
) -> Condition:
    values = [getattr(r, name) for r in rounds[-LAST:]]
    if len(values) < LAST or None in values:
        known = sum(v is not None for v in values)
        return Condition(name, None, f"{name} is known in {known} of the last {LAST} rounds")
    shown = ", ".join(f"{v:.4f}" for v in values)
    return Condition(
        name, all(map(holds, values)), f"{name} in the last {LAST} rounds: {shown}, to be {limit}"
    )


@dataclass(frozen=True)
class HoldOutRound:
    """One round's scores (n,) of the hold-out and its called positives (n,), with the panel behind it."""

    number: int
    scores: ArrayLike
    called: ArrayLike
    panel: str = ""


@dataclass(frozen=True)
class HoldOut:
    """The works that no round trained on: labels (n,) of 1 and 0, design weights (n,), groups (n,).

    Whole groups are resampled, so that works of one venue count as what they are: not independent.
    """

    labels: ArrayLike
    weights: ArrayLike | None = None
    groups: ArrayLike | None = None


def training_rounds(holdout: HoldOut, rounds: Sequence[HoldOutRound]) -> tuple[TrainingRound, ...]:
    """AP, churn and Spearman of each round from its scores, weighted by the design."""
    labels, weights, _ = _checked(holdout)
    found: list[TrainingRound] = []
    for position, this in enumerate(rounds):
        scores = _scores(this, labels.size)
        ap = weighted_average_precision(scores, labels, weights[None, :])[0]
        churned = spearman = None
        if position:
            last = rounds[position - 1]
            called = [np.flatnonzero(np.asarray(r.called, dtype=np.bool_)).tolist() for r in (last, this)]
            churned = churn(*called)
            spearman = weighted_spearman(_scores(last, labels.size), scores, weights[None, :])[0]
        found.append(TrainingRound(this.number, float(ap), churned, _known(spearman), this.panel))
    return tuple(found)


def strict_gate(
    holdout: HoldOut, rounds: Sequence[HoldOutRound], seed: int, replicates: int = 2000, level: float = 0.95
) -> Verdict:
    """Evidence of no change: every interval lies inside the limits of the published rule, on both sides.

    The same resamples serve all rounds (paired), so what all rounds share cancels. Only rounds since the
    panel last changed count. Conditions: the interval of each of the last 5 rounds' relative AP change
    from the AP before them lies within +-2 %; the upper end of churn is below 0.05, and the lower end of
    Spearman above 0.98, in each of the last 3.
    """
    labels, weights, groups = _checked(holdout)
    current = _since_the_panel_changed(rounds)
    if len(current) <= WINDOW:
        return _unknown(f"{_rounds(len(current))} with the present panel; {WINDOW + 1} are needed")
    recent = current[-WINDOW - 1 :]
    scores = [_scores(r, labels.size) for r in recent]
    if not labels.any() or labels.all():
        return _unknown(f"the hold-out has {int(labels.sum())} positives among {labels.size} works")
    if groups.min() == groups.max():
        return _unknown(f"all {labels.size} works of the hold-out are one group, which shows no spread")
    counts = _resamples(groups, replicates, seed)
    aps = np.stack([_batched(weighted_average_precision, counts, weights, s, labels) for s in scores])
    with np.errstate(invalid="ignore", divide="ignore"):
        changes = aps[1:] / aps[0] - 1
    tail = (1 - level) / 2
    ap = _interval_condition(
        "average_precision", [r.number for r in recent[1:]], changes, (-MAX_GAIN, MAX_GAIN), tail,
        f"relative change of AP from round {recent[0].number}",
    )  # fmt: skip
    pairs = list(zip(recent[-LAST - 1 :], recent[-LAST:], strict=False))
    numbers = [after.number for _, after in pairs]
    churns = np.stack([_churns(before, after, counts, weights) for before, after in pairs])
    ranks = np.stack([
        _batched(weighted_spearman, counts, weights, _scores(b, labels.size), _scores(a, labels.size))
        for b, a in pairs
    ])  # fmt: skip
    return Verdict("strict", (
        ap,
        _interval_condition("churn", numbers, churns, (-np.inf, MAX_CHURN), tail, "churn"),
        _interval_condition("spearman", numbers, ranks, (MIN_SPEARMAN, np.inf), tail, "Spearman"),
    ))  # fmt: skip


def _since_the_panel_changed(rounds: Sequence[HoldOutRound]) -> list[HoldOutRound]:
    kept: list[HoldOutRound] = []
    for round_ in reversed(rounds):
        if round_.panel != rounds[-1].panel:
            break
        kept.append(round_)
    return kept[::-1]


def _unknown(why: str) -> Verdict:
    return Verdict("strict", tuple(Condition(name, None, why) for name in CONDITIONS))


def _interval_condition(
    name: ConditionName,
    numbers: Sequence[int],
    draws: Floats,
    limits: tuple[float, float],
    tail: float,
    what: str,
) -> Condition:
    """Whether each row's percentile interval lies inside the limits; unknown draws make it unknown."""
    undefined = float(np.isnan(draws).mean(axis=1).max())
    if undefined > tail:
        return Condition(
            name, None, f"{what} can't be given in {100 * undefined:.0f} % of a round's resamples"
        )
    low, high = np.nanquantile(draws, [tail, 1 - tail], axis=1)
    passed = bool((low > limits[0]).all() and (high < limits[1]).all())
    worst = int(np.argmax(np.maximum(limits[0] - low, high - limits[1])))
    bounds = [f"above {limits[0]:g}"] * bool(np.isfinite(limits[0]))
    bounds += [f"below {limits[1]:g}"] * bool(np.isfinite(limits[1]))
    return Condition(
        name, passed,
        f"{what}: {100 * (1 - 2 * tail):g} % interval {low[worst]:.4f} to {high[worst]:.4f} in round "
        f"{numbers[worst]}, the widest of {len(numbers)}; to be {' and '.join(bounds)} in each",
    )  # fmt: skip


def _churns(before: HoldOutRound, after: HoldOutRound, counts: Floats, weights: Floats) -> Floats:
    """Design-weighted churn in each resample; NaN where neither round calls anything."""
    a, b = (np.asarray(r.called, dtype=np.bool_) for r in (before, after))
    if a.shape != weights.shape or b.shape != weights.shape:
        raise ClassifierError(
            f"round {after.number}: calls of {a.size} and {b.size} works, not {weights.size}"
        )
    changed, either = counts @ (weights * (a ^ b)), counts @ (weights * (a | b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return changed / either


def _batched(measure: Callable[..., Floats], counts: Floats, weights: Floats, *columns: ArrayLike) -> Floats:
    parts = [
        measure(*columns, counts[start : start + BATCH] * weights) for start in range(0, len(counts), BATCH)
    ]
    return np.concatenate(parts)


def _resamples(groups: NDArray[np.int64], replicates: int, seed: int) -> Floats:
    """How often each work is drawn, (replicates, n): whole groups with replacement."""
    random = np.random.Generator(np.random.PCG64(seed))
    size = int(groups.max()) + 1
    drawn = random.multinomial(size, np.full(size, 1 / size), size=replicates)
    return drawn[:, groups].astype(np.float64)


def _checked(holdout: HoldOut) -> tuple[NDArray[np.bool_], Floats, NDArray[np.int64]]:
    raw = np.asarray(holdout.labels, dtype=np.float64)
    if raw.ndim != 1 or not np.isin(raw, (0.0, 1.0)).all():
        raise ClassifierError("hold-out labels are 1 or 0; a work with an unknown label is no part of it")
    weights = np.ones(raw.size) if holdout.weights is None else np.asarray(holdout.weights, dtype=np.float64)
    if weights.shape != raw.shape or not (np.isfinite(weights).all() and (weights > 0).all()):
        raise ClassifierError(f"the hold-out needs {raw.size} finite weights above 0")
    groups = np.arange(raw.size) if holdout.groups is None else np.unique(
        np.asarray(holdout.groups), return_inverse=True
    )[1]  # fmt: skip
    if groups.shape != raw.shape:
        raise ClassifierError(f"the hold-out has {raw.size} works, but {groups.size} groups")
    return raw.astype(np.bool_), weights, groups.astype(np.int64)


def _scores(round_: HoldOutRound, size: int) -> Floats:
    scores = np.asarray(round_.scores, dtype=np.float64)
    if scores.shape != (size,) or not np.isfinite(scores).all():
        raise ClassifierError(f"round {round_.number}: expected {size} finite scores of the hold-out")
    return scores


def _rounds(count: int) -> str:
    return f"{count} round{'' if count == 1 else 's'}"


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def _in_order(rounds: Sequence[TrainingRound]) -> None:
    numbers = [r.number for r in rounds]
    if numbers != sorted(set(numbers)):
        raise ClassifierError(f"rounds come as {numbers}; expected each once, in increasing order")
