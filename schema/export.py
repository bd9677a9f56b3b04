"""JSON Schema of every public record, for people and programs that write our files."""

from typing import Any

from pydantic import BaseModel

from schema.artifact import Analysis, Claim, File, Manifest
from schema.ballots import Ballot, ChunkManifest
from schema.event import Event
from schema.rubric import Rubric
from schema.scores import DecisionRun, ModelRelease, Score
from schema.screening import Adjudication, Rater, Round, Statement, Vote
from schema.screening_record import ScreeningRecord
from schema.study import SamplingDesign, Study
from schema.verification import Check, Verification
from schema.work import Identifier, Import, Rejected, Work

RECORDS: dict[str, type[BaseModel]] = {
    "work": Work,
    "identifier": Identifier,
    "import": Import,
    "rejected": Rejected,
    "study": Study,
    "rubric": Rubric,
    "sample": SamplingDesign,
    "chunk": ChunkManifest,
    "ballot": Ballot,
    "round": Round,
    "rater": Rater,
    "vote": Vote,
    "adjudication": Adjudication,
    "statement": Statement,
    "release": ModelRelease,
    "score": Score,
    "decisions": DecisionRun,
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
