"""A reproduction package: its manifest, files, sources, analyses and claims."""

import unicodedata
from typing import Literal

from pydantic import Field, JsonValue, TypeAdapter, model_validator

from schema.base import (
    DecimalString,
    GitSha1,
    NonEmpty,
    PackagePath,
    Record,
    Sha256,
    Slug,
    Timestamp,
    each_once,
)
from schema.states import ClaimKind
from schema.work import Work

_DECIMAL: TypeAdapter[str] = TypeAdapter(DecimalString)

FileRole = Literal["source", "input", "code", "output", "figure", "notebook"]


class File(Record):
    """One file of a package with the bytes that it must have."""

    path: PackagePath
    role: FileRole
    bytes: int = Field(ge=0)
    sha256: Sha256
    git_blob_sha1: GitSha1 | None = None
    media_type: str | None = None
    licence: str | None = None
    source: str | None = Field(default=None, description="where its content comes from")
    description: str | None = None


class Source(Record):
    """Where published numbers stand.

    With `file`, the page is in the package: its git blob SHA-1 is recomputed, and what `selector`
    extracts must equal the file named by `equals`, byte for byte or as JSON. Without `file`, the
    facts are recorded as given and nothing checks them.
    """

    title: NonEmpty
    url: str | None = None
    commit: GitSha1 | None = None
    path: str | None = Field(default=None, description="path in the repository of `commit`")
    git_blob_sha1: GitSha1 | None = None
    file: PackagePath | None = None
    selector: str | None = Field(default=None, description="CSS selector, such as script#gavel-data")
    equals: PackagePath | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _checkable_as_a_whole(self) -> "Source":
        if (self.selector is None) != (self.equals is None):
            raise ValueError(f"source {self.title!r}: `selector` and `equals` go together")
        if self.selector is not None and self.file is None:
            raise ValueError(f"source {self.title!r}: a selector needs the `file` that it selects from")
        return self


class Analysis(Record):
    """How a number is computed again.

    `query`: SQL over the package's CSV and JSON files, as tables named by `inputs`.
    `builtin`: a registered analysis named by `builtin`, called with inputs, parameters and seed.
    `command`, `notebook`: a package's own code, run only inside a sandbox and only when asked.
    """

    id: Slug
    kind: Literal["query", "builtin", "command", "notebook"]
    description: str | None = None
    inputs: dict[str, PackagePath] = Field(default_factory=dict)
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0)
    time_limit_s: float = Field(default=60.0, gt=0, le=3600)
    sql: str | None = None
    builtin: str | None = None
    argv: tuple[NonEmpty, ...] | None = None
    notebook: PackagePath | None = None

    @model_validator(mode="after")
    def _says_what_to_run(self) -> "Analysis":
        needed = {"query": "sql", "builtin": "builtin", "command": "argv", "notebook": "notebook"}
        for kind, field in needed.items():
            given = getattr(self, field) is not None
            if kind == self.kind and not given:
                raise ValueError(f"analysis {self.id}: kind {self.kind!r} needs `{field}`")
            if kind != self.kind and given:
                raise ValueError(f"analysis {self.id}: `{field}` doesn't belong to kind {self.kind!r}")
        return self


_EXACT_REASON = "the number is a count or a copy, so it must be the same"


class Tolerance(Record):
    """How far a recomputed number may lie from the claim, and why that far.

    `exact`: not at all. `absolute`, `relative`: at most `value` (times the claim). `half_unit`:
    half a unit of the last digit that the claim prints.
    """

    kind: Literal["exact", "absolute", "relative", "half_unit"] = "exact"
    value: DecimalString | None = None
    reason: str = _EXACT_REASON

    @model_validator(mode="after")
    def _value_where_it_means_something(self) -> "Tolerance":
        sized = self.kind in ("absolute", "relative")
        if sized != (self.value is not None):
            raise ValueError(f"tolerance {self.kind!r} {'needs' if sized else 'takes no'} `value`")
        if self.value is not None and self.value.lstrip().startswith("-"):
            raise ValueError("a tolerance can't be negative")
        if not self.reason.strip() or (self.kind != "exact" and self.reason == _EXACT_REASON):
            raise ValueError(f"a tolerance of kind {self.kind!r} states its `reason`")
        return self


class Evidence(Record):
    """Where a claim's number comes out: an analysis, and a JSON Pointer (RFC 6901) into its outputs."""

    analysis: Slug
    pointer: str = Field(pattern=r"^(/([^~/]|~[01])*)*$")


class Relation(Record):
    """What a finding says of a published claim, and why in plain words."""

    kind: Literal["contradicts", "extends"]
    claim: Slug
    reason: NonEmpty


class Claim(Record):
    """One number (or text, or yes/no) that a paper or page states, and how to compute it again.

    Without `evidence` it stays *saved*. The first evidence is the main one; a further one whose
    analysis is another implementation makes the check independent.
    """

    id: Slug
    text: NonEmpty
    value: NonEmpty
    type: Literal["number", "text", "boolean"] = "number"
    unit: str | None = None
    kind: ClaimKind = ClaimKind.PUBLISHED
    tolerance: Tolerance = Tolerance()
    locator: str | None = Field(default=None, description="where in the source it stands")
    basis: str | None = Field(default=None, description="whose number it is and what it rests on")
    evidence: tuple[Evidence, ...] = ()
    relation: Relation | None = None
    caveats: tuple[NonEmpty, ...] = ()

    @model_validator(mode="after")
    def _value_fits_type(self) -> "Claim":
        if self.type == "number":
            _DECIMAL.validate_python(self.value)
        elif self.type == "boolean" and self.value not in ("true", "false"):
            raise ValueError(f"claim {self.id}: a boolean is 'true' or 'false', not {self.value!r}")
        if self.type != "number" and self.tolerance.kind != "exact":
            raise ValueError(f"claim {self.id}: only a number can have a tolerance")
        if (self.kind is ClaimKind.FINDING) != (self.relation is not None):
            raise ValueError(f"claim {self.id}: a finding, and only a finding, names its `relation`")
        return self


class Manifest(Record):
    """`manifest.json`: everything that a package states about itself."""

    manifest_version: Literal[1]
    id: Slug
    title: NonEmpty
    description: str | None = None
    work: Work
    licence: NonEmpty
    created: Timestamp | None = None
    creators: tuple[NonEmpty, ...] = ()
    sources: tuple[Source, ...] = ()
    files: tuple[File, ...] = Field(min_length=1)
    analyses: tuple[Analysis, ...] = ()
    claims: tuple[Claim, ...] = ()
    caveats: tuple[NonEmpty, ...] = ()
    screening: PackagePath | None = Field(default=None, description="a JSON file of screening records")

    @model_validator(mode="after")
    def _holds_together(self) -> "Manifest":
        if self.work.id is None:
            raise ValueError("`work.id` is missing: the work needs a slug")
        if self.work.id == self.id:
            raise ValueError(f"package and work are both called {self.id!r}; they share one namespace")
        paths = each_once("file", [f.path for f in self.files])
        folded = [unicodedata.normalize("NFC", f.path).casefold() for f in self.files]
        each_once("file name (ignoring case and Unicode form)", folded)
        analyses = each_once("analysis", [a.id for a in self.analyses])
        each_once("claim", [c.id for c in self.claims])
        for file in self.files:
            for folder in _folders(file.path):
                if folder in paths:
                    raise ValueError(f"file {folder!r} can't also be the folder of {file.path!r}")
        if "manifest.json" in paths:
            raise ValueError("manifest.json can't list itself among `files`")
        for source in self.sources:
            for path in (source.file, source.equals):
                if path is not None and path not in paths:
                    raise ValueError(f"source {source.title!r}: {path!r} is not among `files`")
        if self.screening is not None and self.screening not in paths:
            raise ValueError(f"`screening`: {self.screening!r} is not among `files`")
        for analysis in self.analyses:
            for name, path in analysis.inputs.items():
                if path not in paths:
                    raise ValueError(f"analysis {analysis.id}: input {name!r} is {path!r}, not among `files`")
        claims = {c.id: c for c in self.claims}
        for claim in self.claims:
            for evidence in claim.evidence:
                if evidence.analysis not in analyses:
                    raise ValueError(
                        f"claim {claim.id}: points to analysis {evidence.analysis!r}, which isn't there"
                    )
            if claim.relation is not None:
                target = claims.get(claim.relation.claim)
                if target is None or target.kind is not ClaimKind.PUBLISHED:
                    raise ValueError(
                        f"claim {claim.id}: speaks of {claim.relation.claim!r}, no published claim here"
                    )
        return self


def _folders(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(1, len(parts))]
