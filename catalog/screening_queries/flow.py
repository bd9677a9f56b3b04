"""The counts of a PRISMA 2020 flow."""

import sqlite3
from collections.abc import Sequence

from catalog.screening_pages import FlowCounts
from schema.states import Estimand


def flow_counts(
    db: sqlite3.Connection, study: str, estimand: Estimand = "majority", rounds: Sequence[str] | None = None
) -> FlowCounts:
    """The flow of a study through its rounds (or those named), each work decided by its adjudication or,
    without one, by the named estimand over the whole panel's votes."""
    raise NotImplementedError
