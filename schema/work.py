"""Bibliographic records: a work, its identifiers, and the import that brought it."""

from typing import Literal

from pydantic import Field, model_validator

from schema.base import NonEmpty, Record, Sha256, Slug, Timestamp

IdentifierScheme = Literal["doi", "arxiv", "pmid", "openalex", "isbn", "url", "other"]
IDENTITY_SCHEMES = ("doi", "arxiv", "pmid", "openalex")
"""Schemes in which two works never share a value: a chapter and its book do share an ISBN."""
STUDY_TYPE = "screening study"
"""The type of a work that stands for a study of this catalog: nobody screens it."""


class Identifier(Record):
    """One name of a work in one scheme, normalised (a DOI is lower-case and bare).

    Scheme and value name the work; `version` only remembers which version was cited (arXiv `v2`).
    """

    scheme: IdentifierScheme
    value: NonEmpty
    version: str | None = Field(default=None, pattern=r"^v[1-9][0-9]*$")


class Author(Record):
    """A person or group as the record names it, in the order of the record."""

    name: NonEmpty
    orcid: str | None = Field(default=None, pattern=r"^[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]$")


class Abstract(Record):
    """An abstract with where it came from; without text, `note` says why there is none."""

    text: str | None = None
    source: str | None = None
    note: str | None = None


class Work(Record):
    """A bibliographic record. `id` is its slug in the catalog; a reader of files may leave it out."""

    id: Slug | None = None
    title: NonEmpty
    authors: tuple[Author, ...] = ()
    year: int | None = Field(default=None, ge=1000, le=2999)
    venue: str | None = None
    type: str | None = None
    language: str | None = None
    topics: tuple[NonEmpty, ...] = ()
    field: str | None = None
    abstract: Abstract = Abstract()
    identifiers: tuple[Identifier, ...] = ()
    retraction: str | None = None
    note: str | None = None


class Rejected(Record):
    """A record that could not be taken in: kept as it came, with the reason."""

    line: int | None = Field(default=None, ge=1)
    raw: str
    reason: NonEmpty


class Import(Record):
    """One reading of one file. What came in is always accounted for, to the record."""

    sha256: Sha256
    filename: NonEmpty
    format: NonEmpty
    reader: NonEmpty
    reader_version: NonEmpty
    who: NonEmpty
    started_at: Timestamp
    finished_at: Timestamp
    read: int = Field(ge=0)
    added: int = Field(ge=0)
    updated: int = Field(ge=0)
    unchanged: int = Field(ge=0)
    duplicate: int = Field(ge=0)
    rejected: int = Field(ge=0)

    @model_validator(mode="after")
    def _accounts_for_all(self) -> "Import":
        parts = self.added + self.updated + self.unchanged + self.duplicate + self.rejected
        if parts != self.read:
            raise ValueError(f"{self.read} records read, but {parts} accounted for")
        return self
