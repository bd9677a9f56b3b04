"""The calibration report: an analysis of out-of-fold predictions that `verify` can rerun."""

from classifiers.report.analysis import calibration_report
from classifiers.report.predictions import COLUMNS

__all__ = ["COLUMNS", "calibration_report"]
