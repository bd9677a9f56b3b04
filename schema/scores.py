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
    positives: int | None = Field(default=None, ge=0, description="positive labels that it learned from")
    ess_positives: float | None = Field(default=None, ge=0, description="(sum w)^2 / sum w^2 over them")
    calibration: str | None = Field(default=None, description="the method chosen; None: not calibrated")
    threshold: float | None = Field(default=None, description="of the score; ranks, decides nothing alone")


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
    study: Slug | None = None
    artifact: Slug | None = Field(default=None, description="the package whose figures `verify` reruns")


class Score(Record):
    """A number that one head of one release gave to one work for one category."""

    work: Slug
    release: Slug
    head: NonEmpty
    category: Slug
    value: DecimalString


class Quota(Record):
    """How many works one head may call for one category: k = round(rate x covered), and for how many
    more or fewer the interval of the rate would stand. A head without support has no k."""

    head: NonEmpty
    category: Slug
    rate: float | None = Field(default=None, ge=0, le=1)
    rate_low: float | None = Field(default=None, ge=0, le=1)
    rate_high: float | None = Field(default=None, ge=0, le=1)
    covered: int = Field(ge=0, description="works with a score of this head")
    k: int | None = Field(default=None, ge=0)
    k_low: int | None = Field(default=None, ge=0)
    k_high: int | None = Field(default=None, ge=0)
    positives: int = Field(ge=0)
    ess_positives: float = Field(ge=0)
    supported: bool


class DecisionRun(Record):
    """Calls of one release over the works that it scored, by quota. `status` ships with every call."""

    id: Slug
    release: Slug
    rule: Literal["quota"] = "quota"
    status: NonEmpty
    works: int = Field(ge=0, description="works in the catalog")
    covered: int = Field(ge=0, description="works with a score of this release")
    quotas: tuple[Quota, ...]
    note: str | None = None
