"""The student: linear heads on sparse text that imitate raters, with the evidence of how well."""

from classifiers.student.crossfit import LinearHeads
from classifiers.student.labels import LabelCounts
from classifiers.student.model import Model, Scores
from classifiers.student.parameters import HeadName, Parameters, Progress
from classifiers.student.scoring import score_frame
from classifiers.student.thresholds import Calls, Confusion
from classifiers.student.train import OutOfFold, TrainedHead, TrainedStudent, train

__all__ = [
    "Calls",
    "Confusion",
    "HeadName",
    "LabelCounts",
    "LinearHeads",
    "Model",
    "OutOfFold",
    "Parameters",
    "Progress",
    "Scores",
    "TrainedHead",
    "TrainedStudent",
    "score_frame",
    "train",
]
