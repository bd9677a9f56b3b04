"""Inductive Venn-Abers predictors (Vovk & Petej 2014), exact for every score."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from classifiers.calibrators.base import Calibrator, Scale, log_odds, numbers
from classifiers.decisions import kish_sample_size
from classifiers.errors import ClassifierError
from classifiers.metrics.sample import Bools, Floats, Ints, Sample, finite


class VennAbers(Calibrator):
    """Two isotonic fits for each score, one that takes the record as negative and one as positive.

    `predict_interval` gives their values p0 <= p1 at the score, `predict` the one probability
    p1 / (1 - p0 + p1) that loses least in log loss (Vovk & Petej 2014, section 4). The record in
    question counts as one, when the calibration records together count as their effective number
    (sum w)^2 / sum(w^2), which is n for equal weights.

    All fits are found together after one sort, in linear time. p1 is the slope of the greatest convex
    minorant of the cumulative labels (Vovk, Petej & Fedorova 2015, section 4), of which only the part
    that bridges the score depends on it, and as the score rises, both ends of that part only move on.
    """

    method = "venn_abers"

    def __init__(self, scale: Scale = "log_odds") -> None:
        super().__init__(scale)
        # Step k holds from score starts_[k] on, including it where included_[k]; the first from below.
        self.starts_: Floats | None = None
        self.included_: Bools = np.zeros(0, dtype=np.bool_)
        self.p0_: Floats = np.zeros(0)
        self.p1_: Floats = np.zeros(0)

    def predict_interval(self, scores: npt.ArrayLike) -> tuple[Floats, Floats]:
        """(n,) p0 and (n,) p1 of n scores (n,)."""
        if not self._fitted():
            raise ClassifierError("the venn_abers calibrator isn't fitted yet")
        return self._interval(log_odds(finite(scores, "score"), self.scale))

    def _fit(self, made: Sample) -> None:
        scores, place = np.unique(made.values, return_inverse=True)
        w = made.weights * (kish_sample_size(made.weights) / made.weights.sum())
        total: Floats = np.bincount(place, weights=w).astype(np.float64)
        positive: Floats = np.bincount(place, weights=w * made.outcome).astype(np.float64)
        p1 = _bridges(total, positive)
        # A record taken as negative is the mirror image: labels swapped, order reversed.
        p0 = 1 - _bridges(total[::-1], (total - positive)[::-1])[::-1]
        p0, p1 = np.maximum.accumulate(p0), np.maximum.accumulate(p1)
        # Places: below all scores, at the first, between it and the second, at the second, ...
        changed = np.flatnonzero((np.diff(p0) != 0) | (np.diff(p1) != 0)) + 1
        self.starts_ = scores[(changed - 1) // 2]
        self.included_ = changed % 2 == 1
        kept = np.concatenate([np.zeros(1, dtype=np.int64), changed])
        self.p0_, self.p1_ = p0[kept], p1[kept]

    def _interval(self, s: Floats) -> tuple[Floats, Floats]:
        assert self.starts_ is not None
        step: Ints = np.searchsorted(self.starts_[self.included_], s, side="right")
        step = step + np.searchsorted(self.starts_[~self.included_], s, side="left")
        return self.p0_[step], self.p1_[step]

    def _predict(self, s: Floats) -> Floats:
        p0, p1 = self._interval(s)
        return p1 / (1 - p0 + p1)

    def _fitted(self) -> bool:
        return self.starts_ is not None

    def _parameters(self) -> dict[str, Any]:
        assert self.starts_ is not None
        return {
            "starts": self.starts_.tolist(),
            "included": self.included_.tolist(),
            "p0": self.p0_.tolist(),
            "p1": self.p1_.tolist(),
        }

    def _restore(self, parameters: Mapping[str, Any]) -> None:
        p0, p1 = numbers(parameters, "p0"), numbers(parameters, "p1")
        starts = numbers(parameters, "starts") if parameters["starts"] != [] else np.zeros(0)
        included = parameters["included"]
        if not isinstance(included, list) or not all(isinstance(flag, bool) for flag in included):
            raise ClassifierError("included isn't a list of true and false")
        if not len(starts) == len(included) == len(p0) - 1 == len(p1) - 1:
            raise ClassifierError("its lists differ in length, expected one step more than starts")
        order = [(start, not flag) for start, flag in zip(starts.tolist(), included, strict=True)]
        if any(a >= b for a, b in itertools.pairwise(order)):
            raise ClassifierError("its starts don't rise")
        if (np.diff(p0) < 0).any() or (np.diff(p1) < 0).any() or (p0 > p1).any():
            raise ClassifierError(
                "its values fall or p0 lies above p1, expected two non-decreasing functions"
            )
        if p0[0] < 0 or p0[-1] >= 1 or p1[0] <= 0 or p1[-1] > 1:
            raise ClassifierError("its values lie outside 0 to 1")
        self.starts_, self.included_ = starts, np.array(included, dtype=np.bool_)
        self.p0_, self.p1_ = p0, p1


def _bridges(total: Floats, positive: Floats) -> Floats:
    """(2k + 1,) isotonic values of one further positive of weight 1, for each place among k scores.

    total, positive : (k,) weight and positive weight at each distinct score, in order. Place 2i is
    the gap below score i (2k: above the last), place 2i + 1 is score i itself.

    With cumulative points P_0..P_k, the record at a place splits them into those before it and those
    after it, the latter moved by (1, 1). Its value is the slope of the common tangent beneath both.
    """
    x = [0.0, *np.cumsum(total).tolist()]
    y = [0.0, *np.cumsum(positive).tolist()]
    k = len(total)
    after = _suffix_hulls(x, y)
    hull = [0]  # the lower hull of the points before the record, as a stack
    left, right = 0, 0  # where the tangent touches: a place in the stack, and a point
    values = np.empty(2 * k + 1)
    for place in range(2 * k + 1):
        last_before, first_after = place // 2, (place + 1) // 2
        if place and place % 2 == 0:
            while len(hull) > 1 and _below(x, y, hull[-2], hull[-1], last_before) <= 0:
                hull.pop()
            hull.append(last_before)
            left = min(left, len(hull) - 1)
        right = max(right, first_after)
        moving = True
        while moving:
            moving = False
            a, dx, dy = hull[left], x[right] + 1.0 - x[hull[left]], y[right] + 1.0 - y[hull[left]]
            while left + 1 < len(hull) and (y[hull[left + 1]] - y[a]) * dx <= (x[hull[left + 1]] - x[a]) * dy:
                left, moving = left + 1, True
                a = hull[left]
                dx, dy = x[right] + 1.0 - x[a], y[right] + 1.0 - y[a]
            while right < k:
                b = after[right]
                if (y[b] + 1.0 - y[a]) * dx > (x[b] + 1.0 - x[a]) * dy:
                    break
                right, moving = b, True
                dx, dy = x[right] + 1.0 - x[a], y[right] + 1.0 - y[a]
        values[place] = dy / dx
    return np.clip(values, 0.0, 1.0)


def _suffix_hulls(x: list[float], y: list[float]) -> list[int]:
    """For each point, the next one on the lower hull of itself and all points after it."""
    following = [0] * len(x)
    stack: list[int] = []
    for i in range(len(x) - 1, -1, -1):
        while len(stack) > 1 and _below(x, y, i, stack[-1], stack[-2]) <= 0:
            stack.pop()
        following[i] = stack[-1] if stack else i
        stack.append(i)
    return following


def _below(x: list[float], y: list[float], a: int, b: int, c: int) -> float:
    """Above 0 when point b lies below the line from a to c, which keeps it on a lower hull."""
    return (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a])
