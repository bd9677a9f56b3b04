"""Classifier scores and the releases that made them. A score ranks; it never asserts a label."""

from typing import Literal

from pydantic import Field

from schema.base import DecimalString, NonEmpty, Record, Sha256, Slug

Availability = Literal["available", "insufficient_support", "fold_degenerate", "unknown"]


class Head(Record):
    """One side of a model, named for the rater it imitates, and the categories that it scores."""

    name: NonEmpty
    imitates: str | None = None
    categories: tuple[Slug, ...] = Field(min_length=1)
    availability: Availability = "unknown"


class ModelRelease(Record):
    """A model at one version. `version` is the hash of inputs, code, parameters and weights, if known."""

    id: Slug
    title: NonEmpty
    version: Sha256 | None = None
    status: NonEmpty = Field(description="shipped verbatim with every row that it governs")
    maturity: Literal["passed", "not_passed", "unknown"]
    training_rounds: int | None = Field(default=None, ge=0)
    calibrated: bool = False
    decimals: int = Field(ge=0, le=17, description="decimals with which its scores were published")
    heads: tuple[Head, ...] = Field(min_length=1)
    source: NonEmpty
    note: str | None = None


class Score(Record):
    """A number that one head of one release gave to one work for one category."""

    work: Slug
    release: Slug
    head: NonEmpty
    category: Slug
    value: DecimalString
