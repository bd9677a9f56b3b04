"""A screening study: its rubric, raters, rounds and sampling designs, hashed as one."""

import hashlib
from typing import Literal

from pydantic import Field, JsonValue, model_validator

from schema.base import NonEmpty, Record, Slug, canonical_json, each_once
from schema.rubric import Rubric
from schema.screening import Rater


class Stratum(Record):
    """A part of the frame, by a rule over a work's fields, and how many are drawn from it.

    `where` is a rule as `classifiers.sampling` reads it; without one, membership comes from the table
    given with the sample. `draw` of None takes all (a census).
    """

    id: Slug
    where: dict[str, JsonValue] | None = None
    draw: int | None = Field(default=None, ge=0)


class SamplingDesign(Record):
    """A stratified sample in the order of SHA-256(id || salt). Strata must part the frame exactly;
    `overlap` = 'first' puts a work that fits several into the first, for enrichment by priority."""

    id: Slug
    salt: str
    strata: tuple[Stratum, ...] = Field(min_length=1)
    frame: dict[str, JsonValue] | None = Field(
        default=None, description="a rule that narrows the study's frame; None: all of it"
    )
    overlap: Literal["refuse", "first"] = "refuse"
    extends: Slug | None = Field(default=None, description="the design whose draw this one contains")

    @model_validator(mode="after")
    def _each_once(self) -> "SamplingDesign":
        each_once(f"stratum of sample {self.id}", [s.id for s in self.strata])
        return self


class RoundPlan(Record):
    """One screening that a study asks for: of a sample, of the works named, or of every work of the frame."""

    id: Slug
    title: NonEmpty
    instrument: Literal["title", "title+abstract", "full text"]
    raters: tuple[Slug, ...] = Field(min_length=1)
    adjudicators: tuple[Slug, ...] = ()
    sample: Slug | None = None
    works: tuple[NonEmpty, ...] = Field(
        default=(),
        description="picked in another way than by a sample, such as a batch: they carry no weight",
    )
    chunk_size: int = Field(default=25, ge=1, le=1000)
    seed: int = Field(default=0, ge=0)
    note: str | None = None


class Study(Record):
    """Everything that is decided before the first rater runs."""

    id: Slug
    title: NonEmpty
    description: str | None = None
    synthetic: bool = Field(default=False, description="made up, to try things out; said everywhere")
    rubric: Rubric
    frame: dict[str, JsonValue] | None = Field(
        default=None, description="a rule: the works that the study is about; None: every work"
    )
    raters: tuple[Rater, ...] = Field(min_length=1)
    samples: tuple[SamplingDesign, ...] = ()
    rounds: tuple[RoundPlan, ...] = Field(min_length=1)
    licence: str | None = None
    source: str | None = None
    caveats: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _holds_together(self) -> "Study":
        raters = each_once("rater", [r.id for r in self.raters])
        samples = each_once("sample", [s.id for s in self.samples])
        each_once("round", [r.id for r in self.rounds])
        for design in self.samples:
            if design.extends is not None and design.extends not in samples:
                raise ValueError(f"sample {design.id}: extends {design.extends!r}, no sample of the study")
        for plan in self.rounds:
            each_once(f"rater of round {plan.id}", plan.raters)
            each_once(f"work of round {plan.id}", plan.works)
            if plan.works and plan.sample is not None:
                raise ValueError(f"round {plan.id}: has a sample and names works; expected one of them")
            for rater in (*plan.raters, *plan.adjudicators):
                if rater not in raters:
                    raise ValueError(f"round {plan.id}: {rater!r} is no rater of the study")
            if plan.sample is not None and plan.sample not in samples:
                raise ValueError(f"round {plan.id}: {plan.sample!r} is no sample of the study")
        return self

    @property
    def sha256(self) -> str:
        """SHA-256 of the canonical JSON of all that it says."""
        return hashlib.sha256(canonical_json(self.model_dump(mode="json"))).hexdigest()

    def round(self, slug: str) -> RoundPlan:
        """The round of that name. Raises KeyError."""
        return {r.id: r for r in self.rounds}[slug]
