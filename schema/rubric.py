"""A rubric: what raters are asked, in a vocabulary that is hashed with its version."""

import hashlib
from typing import Literal

from pydantic import Field, model_validator

from schema.base import NonEmpty, Record, Slug, canonical_json, each_once


class Category(Record):
    """One label of a multi-label vocabulary.

    `stands_alone`: can't be chosen beside another. `cannot_be_screened`: the work couldn't be judged;
    that stands alone, is counted, is never a topic, and leaves every other category *unknown*.
    """

    id: Slug
    label: NonEmpty
    description: str | None = None
    stands_alone: bool = False
    cannot_be_screened: bool = False


class RubricField(Record):
    """A closed question asked beside the categories, such as a study design.

    `exactly_when`: asked for where the category `when` is chosen, and refused anywhere else.
    """

    id: Slug
    label: NonEmpty
    values: tuple[NonEmpty, ...] = Field(min_length=1)
    many: bool = Field(default=False, description="whether several values may be chosen")
    required: Literal["always", "optional", "exactly_when"] = "optional"
    when: Slug | None = None

    @model_validator(mode="after")
    def _says_when(self) -> "RubricField":
        if (self.required == "exactly_when") != (self.when is not None):
            raise ValueError(f"field {self.id}: `when` goes with required = 'exactly_when', and only with it")
        each_once(f"value of field {self.id}", self.values)
        return self


ANSWER_KEYS = ("id", "work", "decision", "categories", "confidence", "reason", "rater")
"""Names that an answer uses for itself, so that no field may take them."""


class Rubric(Record):
    """Categories in score order, fields, and what a rater is told. A change of it is another version."""

    id: Slug
    version: NonEmpty
    title: NonEmpty
    categories: tuple[Category, ...] = Field(min_length=1)
    fields: tuple[RubricField, ...] = ()
    asks_confidence: bool = True
    reason: Literal["required", "optional"] = "optional"
    reason_max: int = Field(default=400, ge=1, le=400, description="characters")
    instructions: str = ""

    @model_validator(mode="after")
    def _holds_together(self) -> "Rubric":
        ids = each_once("category", [c.id for c in self.categories])
        each_once("field", [f.id for f in self.fields])
        if sum(c.cannot_be_screened for c in self.categories) > 1:
            raise ValueError("at most one category can mean that a work cannot be screened")
        if not self.topics:
            raise ValueError("a rubric needs a category besides the one that means 'cannot be screened'")
        for field in self.fields:
            if field.id in ANSWER_KEYS:
                raise ValueError(f"field {field.id!r}: the name belongs to every answer; choose another")
            if field.when is not None and field.when not in ids:
                raise ValueError(f"field {field.id}: `when` names {field.when!r}, no category of the rubric")
        return self

    @property
    def topics(self) -> tuple[str, ...]:
        """The categories that say something of a work's subject, in score order."""
        return tuple(c.id for c in self.categories if not c.cannot_be_screened)

    @property
    def cannot(self) -> str | None:
        """The category that means "cannot be screened", if the rubric has one."""
        return next((c.id for c in self.categories if c.cannot_be_screened), None)

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical JSON of all that it says."""
        return hashlib.sha256(canonical_json(self.model_dump(mode="json"))).hexdigest()
