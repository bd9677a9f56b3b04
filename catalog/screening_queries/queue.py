"""What a person is given to rate next. Blinded: nothing here reads another rater's votes."""

import sqlite3

from catalog.screening_pages import QueuePage


def rater_rounds(db: sqlite3.Connection, rater: str) -> tuple[tuple[str, str, int, int], ...]:
    """Rounds that a person may rate in: (round, title, works voted on, works in all), open ones first."""
    raise NotImplementedError


def queue_page(db: sqlite3.Connection, round_: str, rater: str) -> QueuePage:
    """The next work for this rater: in the manifest's order, skipped works last, longest skipped first."""
    raise NotImplementedError


def queue_work(db: sqlite3.Connection, round_: str, key: str) -> str:
    """The slug of the work that a queue calls by this key."""
    raise NotImplementedError
