"""How common positives are in a frame, from a stratified sample: estimate, error, intervals, corrections.

Counts are needed for each stratum: totals over strata that were sampled at different rates determine no
weighted rate. An unusable record is never a negative.
"""

from classifiers.prevalence.counts import StratumCounts, counts_from_ratings
from classifiers.prevalence.misclassification import (
    Band,
    BandPoint,
    Corrected,
    Validation,
    rogan_gladen,
    rogan_gladen_moments,
    sensitivity_band,
)
from classifiers.prevalence.report import (
    Bounds,
    Prevalence,
    PrevalenceReport,
    prevalence,
    prevalence_by_rater,
)
from classifiers.prevalence.stratified import Moments, domain_moments, nonresponse_moments

__all__ = [
    "Band",
    "BandPoint",
    "Bounds",
    "Corrected",
    "Moments",
    "Prevalence",
    "PrevalenceReport",
    "StratumCounts",
    "Validation",
    "counts_from_ratings",
    "domain_moments",
    "nonresponse_moments",
    "prevalence",
    "prevalence_by_rater",
    "rogan_gladen",
    "rogan_gladen_moments",
    "sensitivity_band",
]
