"""When to stop screening. Each rule says stop or not, which recall it believes in, and what it assumes.

No rule knows what wasn't read: an estimate holds as far as its assumption does, and a rule that can't say
how much was found says `unknown` with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from classifiers.active.recall import (
    RecallEstimate,
    capture_recapture,
    hypergeometric_cdf,
    model_recall,
    sampled_recall,
)
from classifiers.errors import ClassifierError


@dataclass(frozen=True)
class Verdict:
    """What a rule says: `stop`, `recall`, `detail` (why, with its numbers) and `assumption` (one sentence).

    `p_value` is that of a test of "the target isn't reached", None for a rule that makes none.
    """

    rule: str
    stop: bool
    recall: RecallEstimate
    detail: str
    assumption: str
    p_value: float | None = None


def consecutive_irrelevant(labels: Sequence[bool], run: int) -> Verdict:
    """Stop once the last `run` records in the order of screening were all irrelevant."""
    _from_one("run", run)
    last = 0
    for relevant in reversed(labels):
        if relevant:
            break
        last += 1
    return Verdict(
        "consecutive_irrelevant",
        last >= run,
        RecallEstimate.unknown(0.95, "a run of irrelevant records says nothing of how many are left"),
        f"{last} irrelevant in a row, {run} asked for",
        "The records are read in an order that puts what is relevant first; nothing bounds what it misses.",
    )


def budget(screened: int, records: int, part: float, found: int) -> Verdict:
    """Stop once that part of the records was screened; `found` of them are relevant."""
    if not 0 < part <= 1 or not 0 <= screened <= records or records == 0:
        raise ClassifierError(
            f"a part of {part:g} of {records} records, {screened} screened, can't be; expected 0 < part <= 1"
        )
    if not 0 <= found <= screened:
        raise ClassifierError(f"{found} relevant records among {screened} screened can't be")
    if screened == records and not found:
        recall = RecallEstimate.unknown(0.95, "no record is relevant, so there is nothing to recall")
    elif screened == records:
        recall = RecallEstimate(1.0, 1.0, 1.0, 0.95)
    else:
        recall = RecallEstimate.unknown(0.95, "a budget says nothing of how many are left")
    return Verdict(
        "budget",
        screened >= part * records - 1e-9,
        recall,
        f"{screened:,} of {records:,} records screened, {part:.1%} asked for",
        "None on recall: the effort was set beforehand.",
    )


def recapture(first: int, second: int, both: int, target: float, level: float = 0.95) -> Verdict:
    """Stop once the lower end of the recall by capture and recapture reaches the target."""
    _target(target)
    estimate = capture_recapture(first, second, both, level)
    recall = estimate.recall
    return Verdict(
        "capture_recapture",
        recall.low is not None and recall.low >= target,
        recall,
        f"{estimate.found:,} found by either, "
        + ("unknown" if estimate.relevant is None else f"about {estimate.relevant:.1f}")
        + f" in all (from {estimate.low:,}"
        + (f" to {estimate.high:,})" if estimate.high is not None else " up, nothing bounds it)"),
        "The two searches are independent and no record is easier for both; where both miss the same"
        " records, recall is overestimated.",
    )


def random_sample_test(
    found: int,
    in_sample: int,
    sample: int,
    unscreened: int,
    target: float,
    confidence: float = 0.95,
    *,
    sequential: bool = True,
) -> Verdict:
    """Callaghan and Mueller-Hansen's test on records drawn at random from those not yet screened.

    The hypothesis that recall is below the target is rejected when so few relevant records would be
    drawn by chance: p = P(X <= in_sample), X hypergeometric with K relevant among the `unscreened`, K the
    fewest with which recall would still fall short (M. W. Callaghan and F. Mueller-Hansen, Systematic
    Reviews 9 (2020) 273).

    Parameters
    ----------
    found : relevant records before the sample; unscreened : records not screened before it.
    in_sample, sample : relevant records in it, and its size so far.
    sequential : the test may be made after each draw, which would reject a true hypothesis too often
        at the plain level. Rejection then needs p < (1 - confidence) / 2^(in_sample + 1): for each number
        of relevant records drawn only the first such draw counts, and over these the levels sum to
        1 - confidence. With False, p < 1 - confidence as published: for a sample whose size was fixed
        beforehand.

    Raises
    ------
    ClassifierError : for counts that can't be, or a target or confidence outside (0, 1).
    """
    _target(target)
    recall = sampled_recall(found, in_sample, sample, unscreened, confidence)
    needed = _fewest_missing(found, in_sample, target)
    if needed > unscreened - (sample - in_sample):
        p = 0.0  # so many can't be there
    else:
        p = float(hypergeometric_cdf(in_sample, unscreened, needed, sample)[0])
    level = 1 - confidence
    if sequential:
        level /= 2 ** (in_sample + 1)
    nothing = found + in_sample == 0
    if nothing:
        p = 1.0  # recall of nothing is no recall
    return Verdict(
        "random_sample_test",
        p < level or (sample == unscreened and not nothing),
        recall,
        f"{in_sample} relevant among {sample:,} drawn at random from {unscreened:,}: p = {p:.3g} that recall"
        f" is below {target:.0%}, to be below {level:.3g}",
        "The sample is drawn at random from what was not screened when it began, and labels are right.",
        p,
    )


def ranked_test(
    labels: Sequence[bool], records: int, target: float, confidence: float = 0.95, found_before: int = 0
) -> Verdict:
    """Callaghan and Mueller-Hansen's heuristic: the same test on every last stretch of the ranked order.

    Each stretch of records screened most recently is taken as if it were a random sample of what was
    unscreened when it began; the least p over all stretches counts (their section "ranked quasi-sampling").
    Ranked records are likelier relevant than random ones, which makes the test cautious, but the least of
    many p-values has no guaranteed level.

    Parameters
    ----------
    labels : in the order of screening; records : how many there are in all, without priors.
    found_before : relevant records known before the order begins.
    """
    _target(target)
    order = np.asarray(labels, bool)
    n = len(order)
    if n > records:
        raise ClassifierError(f"{n} records were screened of {records}; expected no more than there are")
    total = int(order.sum()) + found_before
    p = 1.0
    if total:
        all_needed = _fewest_missing(total, 0, target)
        drawn = np.cumsum(order[::-1])
        p = min(
            (_stretch_p(i, int(drawn[i - 1]), records - n, all_needed) for i in range(1, n + 1)), default=1.0
        )
    return Verdict(
        "ranked_test",
        p < 1 - confidence or (n == records and total > 0),
        RecallEstimate.unknown(
            confidence, "a stretch of ranked records is no random sample to estimate from"
        ),
        f"least p = {p:.3g} over the last stretches that recall is below {target:.0%}",
        "Records screened last are at least as likely relevant as those left: true of a ranking that works,"
        " not guaranteed.",
        p,
    )


def _stretch_p(sample: int, in_sample: int, left: int, missing: int) -> float:
    """p of a last stretch: before it, `left + sample` were unscreened with `missing + in_sample` relevant."""
    population, relevant = left + sample, missing + in_sample
    if relevant > population - (sample - in_sample):
        return 0.0
    return float(hypergeometric_cdf(in_sample, population, relevant, sample)[0])


def model_based(
    probabilities: ArrayLike, screened: ArrayLike, target: float, deviations: float = 2.0
) -> Verdict:
    """QuantCI: stop once the recall expected from the probabilities, less 2 deviations, reaches the target.

    With `deviations` = 0 it is Quant. See `recall.model_recall` for the source.
    """
    _target(target)
    recall = model_recall(probabilities, screened, deviations)
    return Verdict(
        "model_based",
        recall.low is not None and recall.low >= target,
        recall,
        "the model expects no relevant record"
        if recall.value is None
        else f"expected recall {recall.value:.1%}, at least {recall.low:.1%}; target {target:.0%}",
        "The probabilities are calibrated on the records not yet read, and records are independent.",
    )


def quantile_bound(found: int, control: int, target: float, confidence: float = 0.95) -> Verdict:
    """Stop once so many of a random control set of relevant records were met again that recall is assured.

    With r control records, of which j were found by the review, recall is at least the target with the
    confidence when j is at least the least j with P(Binomial(r, target) <= j - 1) >= confidence
    (D. D. Lewis, E. Yang and O. Frieder, Proc. CIKM 2021: QBCB). The estimate is j / r, its lower
    bound Clopper and Pearson's, one-sided.

    Parameters
    ----------
    found : control records that the review has come to by itself; control : how many there are.
    """
    _target(target)
    if not 0 <= found <= control:
        raise ClassifierError(f"{found} of {control} control records can't be found")
    needed = quantile_needed(control, target, confidence)
    assumption = (
        "The control records are a random sample of what is relevant, and the review comes to them as if it"
        " did not know them."
    )
    if control == 0:
        unknown = RecallEstimate.unknown(confidence, "no control record is relevant")
        return Verdict("quantile_bound", False, unknown, "no control record", assumption)
    low = float(special.betaincinv(found, control - found + 1, 1 - confidence)) if found else 0.0
    return Verdict(
        "quantile_bound",
        needed is not None and found >= needed,
        RecallEstimate(found / control, low, 1.0, confidence),
        f"{found} of {control} control records found; "
        + (f"{needed} needed" if needed is not None else f"too few of them ever to assure {target:.0%}"),
        assumption,
    )


def quantile_needed(control: int, target: float, confidence: float = 0.95) -> int | None:
    """The least number of `control` records that assures the target, or None where even all don't."""
    _target(target)
    below = special.bdtr(np.arange(control), control, target)  # P(X <= j - 1) for j = 1..control
    enough = np.flatnonzero(below >= confidence)
    return int(enough[0]) + 1 if len(enough) else None


def _fewest_missing(found: int, in_sample: int, target: float) -> int:
    """The least number of relevant records outside `found` with which found + in_sample is below target."""
    now = found + in_sample
    least = int(np.floor(now / target + 1e-9)) + 1  # the least total of which `now` is less than the target
    return least - found


def _target(target: float) -> None:
    if not 0 < target < 1:
        raise ClassifierError(f"the target recall is {target:g}; expected a number between 0 and 1")


def _from_one(name: str, value: int) -> None:
    if value < 1:
        raise ClassifierError(f"{name} is {value}; expected a whole number from 1 up")
