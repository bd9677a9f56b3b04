"""Who did what, when, to which row."""

from typing import Literal

from pydantic import Field, JsonValue

from schema.base import NonEmpty, Record, Timestamp

Action = Literal[
    "init", "upgrade", "add", "import", "verify", "backup",
    "design", "sample", "manifest", "votes", "adjudicate", "release", "score", "decide",
]  # fmt: skip


class Event(Record):
    """One entry of the catalog's journal."""

    at: Timestamp
    who: NonEmpty
    action: Action
    subject: NonEmpty
    detail: dict[str, JsonValue] = Field(default_factory=dict)
