"""JSON Schema of every public record, for people and programs that write our files."""

from typing import Any

from pydantic import BaseModel

from schema.artifact import Analysis, Claim, File, Manifest
from schema.event import Event
from schema.scores import ModelRelease, Score
from schema.screening import Rater, Round, Statement, Vote
from schema.screening_record import ScreeningRecord
from schema.verification import Check, Verification
from schema.work import Identifier, Import, Rejected, Work

RECORDS: dict[str, type[BaseModel]] = {
    "work": Work,
    "identifier": Identifier,
    "import": Import,
    "rejected": Rejected,
    "round": Round,
    "rater": Rater,
    "vote": Vote,
    "statement": Statement,
    "release": ModelRelease,
    "score": Score,
    "screening": ScreeningRecord,
    "manifest": Manifest,
    "file": File,
    "analysis": Analysis,
    "claim": Claim,
    "verification": Verification,
    "check": Check,
    "event": Event,
}


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (2020-12) of one record kind. Raises KeyError for an unknown name."""
    schema = RECORDS[name].model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
