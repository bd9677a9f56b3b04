"""Screening: rounds, raters and votes, and what a publisher said of a work in its own words."""

from typing import Literal

from pydantic import Field, model_validator

from schema.base import NonEmpty, Record, Sha256, Slug, Timestamp

RaterKind = Literal["human", "model"]
Instrument = Literal["title", "title+abstract", "full text", "unknown"]
Decision = Literal["in_scope", "out_of_scope", "insufficient_payload", "unsure"]
Wording = Literal["verbatim", "paraphrased"]
Confidence = Literal["high", "medium", "low"]


class Rater(Record):
    """A person or a model with its exact version; a name that nobody gave stays unknown."""

    id: Slug
    kind: RaterKind
    name: NonEmpty
    version: str | None = None
    model: str | None = Field(default=None, description="the id by which the `llm` library calls a model")
    note: str | None = None

    @model_validator(mode="after")
    def _only_a_model_is_called(self) -> "Rater":
        if self.model is not None and self.kind != "model":
            raise ValueError(f"rater {self.id}: `model` is for raters of kind 'model'")
        return self


class Round(Record):
    """One screening of a set of works by a panel of raters with one instrument.

    `published`: its votes came from elsewhere as they are. `harness`: they were taken here, behind
    chunk manifests written before, in the study whose hash is `study_sha256`.
    """

    id: Slug
    study: NonEmpty
    title: NonEmpty
    instrument: Instrument
    categories: tuple[Slug, ...] = Field(min_length=1)
    rubric_sha256: Sha256 | None = None
    panel: int = Field(ge=1, description="how many raters rate each work")
    works_screened: int | None = Field(default=None, ge=0)
    frame_size: int | None = Field(default=None, ge=0)
    source: NonEmpty
    licence: str | None = None
    note: str | None = None
    origin: Literal["published", "harness"] = "published"
    study_sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _harness_has_a_study(self) -> "Round":
        if self.origin == "harness" and self.study_sha256 is None:
            raise ValueError(f"round {self.id}: a round taken here names its study")
        return self


class Vote(Record):
    """What one rater said of one work in one round. Immutable: a correction supersedes it."""

    id: Slug
    round: Slug
    work: Slug
    rater: Slug
    decision: Decision
    categories: tuple[Slug, ...] = ()
    fields: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    confidence: Confidence | None = None
    reason: str | None = Field(default=None, max_length=400)
    reason_wording: Wording | None = None
    cast_at: Timestamp | None = None
    supersedes: Slug | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _decision_fits_categories(self) -> "Vote":
        if self.decision != "in_scope" and self.categories:
            raise ValueError(f"vote {self.id}: {self.decision} stands alone, but categories are named")
        if self.reason is not None and self.reason_wording is None:
            raise ValueError(f"vote {self.id}: say whether its reason is 'verbatim' or 'paraphrased'")
        return self


class Statement(Record):
    """A publisher's own words about a work: kept beside our states, never merged with them."""

    id: Slug
    work: Slug
    publisher: NonEmpty
    about: NonEmpty
    text: NonEmpty
    wording: Wording
    status: str | None = None
    source: NonEmpty


class Adjudication(Record):
    """What an adjudicator made of the votes on one work. `unresolved` is a result; it is never imputed."""

    id: Slug
    round: Slug
    work: Slug
    rater: Slug
    decision: Literal["in_scope", "out_of_scope", "insufficient_payload", "unresolved"]
    categories: tuple[Slug, ...] = ()
    reason: str | None = Field(default=None, max_length=400)
    decided_at: Timestamp | None = None
    supersedes: Slug | None = None

    @model_validator(mode="after")
    def _decision_fits_categories(self) -> "Adjudication":
        if self.decision != "in_scope" and self.categories:
            raise ValueError(
                f"adjudication {self.id}: {self.decision} stands alone, but categories are named"
            )
        return self
