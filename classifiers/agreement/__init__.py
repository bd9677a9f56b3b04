"""Agreement between raters: percent, Cohen, Fleiss, Krippendorff, AC1, PABAK and Jaccard, with counts.

`ratings_from_matrix` takes the ratings themselves, the two others published counts; `agreement` gives
the report. An unusable rating is never a negative, and a coefficient without a value says why.
"""

from classifiers.agreement.coefficients import AC1, ALPHA, COHEN, FLEISS, JACCARD, PABAK, PERCENT
from classifiers.agreement.ratings import (
    Label,
    Ratings,
    ratings_from_matrix,
    ratings_from_pair,
    ratings_from_positive_counts,
)
from classifiers.agreement.report import AgreementReport, AgreementTable, Coefficient, Counts, agreement
from classifiers.agreement.resampling import BootstrapInterval
from classifiers.agreement.standard_errors import StandardError

__all__ = [
    "AC1",
    "ALPHA",
    "COHEN",
    "FLEISS",
    "JACCARD",
    "PABAK",
    "PERCENT",
    "AgreementReport",
    "AgreementTable",
    "BootstrapInterval",
    "Coefficient",
    "Counts",
    "Label",
    "Ratings",
    "StandardError",
    "agreement",
    "ratings_from_matrix",
    "ratings_from_pair",
    "ratings_from_positive_counts",
]
