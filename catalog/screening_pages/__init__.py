"""What a reader is shown of screening, as plain data: the same for a terminal, a page and an export.

`catalog.screening_queries` fills these. States come decided by `schema.states`; every vote, label, score
and call stands beside the status that says how far it may be believed. A publisher's status is its own
text; the others are members of `schema.states.Status`.
"""

from catalog.screening_pages.cells import NOT_CAST, Cell, NotCast
from catalog.screening_pages.flow import FlowCounts, FlowStage, SourceCount
from catalog.screening_pages.models import CallRow, DecisionRunView, DecisionView, ModelPage, ReleaseFile
from catalog.screening_pages.queue import LastVote, QueueItem, QueuePage
from catalog.screening_pages.states import (
    AdjudicationView,
    CategoryStateRow,
    CategoryVote,
    Contested,
    ContestedVote,
)
from catalog.screening_pages.studies import (
    AnswerView,
    CoverageRow,
    ReleaseSummary,
    RoundView,
    SampleView,
    StratumView,
    StudyPage,
    StudySummary,
    StudyVersion,
)
from catalog.screening_pages.tables import (
    CallLine,
    LabelRow,
    RatingTable,
    ScoreLine,
    TrainingRows,
    VoteColumn,
    VoteRow,
)

__all__ = [
    "NOT_CAST",
    "AdjudicationView",
    "AnswerView",
    "CallLine",
    "CallRow",
    "CategoryStateRow",
    "CategoryVote",
    "Cell",
    "Contested",
    "ContestedVote",
    "CoverageRow",
    "DecisionRunView",
    "DecisionView",
    "FlowCounts",
    "FlowStage",
    "LabelRow",
    "LastVote",
    "ModelPage",
    "NotCast",
    "QueueItem",
    "QueuePage",
    "RatingTable",
    "ReleaseFile",
    "ReleaseSummary",
    "RoundView",
    "SampleView",
    "ScoreLine",
    "SourceCount",
    "StratumView",
    "StudyPage",
    "StudySummary",
    "StudyVersion",
    "TrainingRows",
    "VoteColumn",
    "VoteRow",
]
