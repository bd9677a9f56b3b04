"""Every question about screening that a command or a page asks, answered as `catalog.screening_pages` data.

Functions take a plain sqlite3.Connection, read only, and raise `catalog.queries.NotFound` with a
sentence. What may be long comes as an iterator.
"""

from catalog.screening_queries.exports import call_rows, label_rows, score_rows, vote_rows
from catalog.screening_queries.flow import flow_counts
from catalog.screening_queries.models import model_page, releases, work_decisions
from catalog.screening_queries.queue import queue_page, queue_work, rater_rounds
from catalog.screening_queries.states import category_states, contested
from catalog.screening_queries.studies import answers, manifest, round_view, studies, study_page, study_record
from catalog.screening_queries.tables import (
    frame_documents,
    last_vote,
    rating_table,
    training_rows,
    works_voted,
)

__all__ = [
    "answers",
    "call_rows",
    "category_states",
    "contested",
    "flow_counts",
    "frame_documents",
    "label_rows",
    "last_vote",
    "manifest",
    "model_page",
    "queue_page",
    "queue_work",
    "rater_rounds",
    "rating_table",
    "releases",
    "round_view",
    "score_rows",
    "studies",
    "study_page",
    "study_record",
    "training_rows",
    "vote_rows",
    "work_decisions",
    "works_voted",
]
