"""What is shown of a model, in a terminal and on a page: figures of its calibration in their order, whose
calibration it is, its maturity and its calls in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from schema.scores import Head, ModelRelease
from schema.states import Call


@dataclass(frozen=True)
class CalibrationFigure:
    """One figure: its name, where the metrics of a report hold it, and how many decimals are shown."""

    name: str
    path: tuple[str, ...]
    decimals: int

    def of(self, metrics: Any) -> Any:
        """What the metrics hold: a number, an object with `value`, `low` and `high`, or None."""
        for name in self.path:
            metrics = metrics.get(name) if isinstance(metrics, Mapping) else None
        return metrics


CALIBRATION_FIGURES = (
    CalibrationFigure("Brier score", ("brier", "brier"), 5),
    CalibrationFigure("  reliability", ("brier", "reliability"), 5),
    CalibrationFigure("  resolution", ("brier", "resolution"), 5),
    CalibrationFigure("  uncertainty", ("brier", "uncertainty"), 5),
    CalibrationFigure("Brier skill against the base rate", ("brier_skill",), 3),
    CalibrationFigure("Log loss", ("log_loss",), 4),
    CalibrationFigure("Calibration error, bins of equal mass", ("ece_equal_mass",), 4),
    CalibrationFigure("  by chance alone", ("ece_equal_mass", "by_chance"), 4),
    CalibrationFigure("Calibration error, bins of equal width", ("ece_equal_width",), 4),
    CalibrationFigure("  by chance alone", ("ece_equal_width", "by_chance"), 4),
    CalibrationFigure("Calibration slope (1 is right)", ("line", "slope"), 3),
    CalibrationFigure("Calibration intercept (0 is right)", ("line", "intercept"), 3),
    CalibrationFigure("Average precision", ("average_precision",), 3),
    CalibrationFigure("ROC area", ("roc_auc",), 3),
    CalibrationFigure("Base rate", ("base_rate",), 4),
    CalibrationFigure("Mean probability", ("mean_probability",), 4),
)

CHANCE_NOTE = (
    "A calibration error is above 0 by chance alone, also where every probability is right; its interval "
    "takes that off, so it may lie below the figure."
)


def head_of(release: ModelRelease, name: str, category: str) -> Head | None:
    """The head of this name for this category: heads of one name may differ from category to category."""
    return next((h for h in release.heads if h.name == name and category in h.categories), None)


def is_calibrated(release: ModelRelease, head: Head | None) -> bool:
    """Whether a head is: the release says so, and the head names its method wherever any head does."""
    if head is None or not any(h.calibration for h in release.heads):
        return release.calibrated
    return release.calibrated and head.calibration is not None


def calibrated_heads(release: ModelRelease) -> tuple[int, int]:
    """How many heads are calibrated, of how many; one for each name and category."""
    each = [is_calibrated(release, head) for head in release.heads for _ in head.categories]
    return sum(each), len(each)


def calibration_words(release: ModelRelease) -> str:
    """`calibrated`, `not calibrated`, or how many heads of how many are."""
    some, every = calibrated_heads(release)
    if some in (0, every):
        return "calibrated" if some else "not calibrated"
    return f"{some} of {every} heads calibrated"


def maturity_words(release: ModelRelease) -> str:
    """What the maturity gate said, and after how many training rounds.

    A release trained here was judged, so what the gate doesn't know is not known yet; of one that was
    published elsewhere it isn't recorded.
    """
    unknown = "not recorded" if release.study is None else "not known yet, which isn't passed,"
    said = {"passed": "passed", "not_passed": "not passed", "unknown": unknown}[release.maturity]
    number = release.training_rounds
    if number is None:
        return said.rstrip(",")
    return f"{said} after {number:,} training round{'' if number == 1 else 's'}"


_CALL_MEANINGS = {
    Call.UNKNOWN: "this work has no score of the release, which is no negative",
    Call.UNSUPPORTED: "a side has too little support to make calls",
    Call.CONSENSUS: "every side has it among its k",
    Call.CANDIDATE: "some sides have it among their k, not all",
    Call.NO_CALL: "no side has it among its k, which is no negative",
}


def call_meaning(value: Call, sides: int) -> str:
    """What a call says, where so many sides could make it."""
    if value is Call.CANDIDATE and sides == 1:
        return "the only side has it among its k, and one side alone makes no consensus"
    return _CALL_MEANINGS[value]
