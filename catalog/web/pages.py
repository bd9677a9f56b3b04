"""From the facts of a page to what its template prints: rows, notes and marks, nothing decided."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from catalog.pages import ArtifactPage, ClaimView, SourceView, VerificationPage, WorkPage
from catalog.web import format as f
from schema.artifact import Claim, Manifest, Source
from schema.states import ClaimKind
from schema.work import Work


@dataclass(frozen=True)
class ClaimRow:
    """A claim as a line of the table; a finding follows the published claim that it speaks of."""

    view: ClaimView
    about: Claim | None
    digits: f.Digits | None
    tolerance_note: int
    caveat_marks: tuple[str, ...]
    contradicted: bool
    reason_first: bool

    @property
    def claim(self) -> Claim:
        """The statement itself."""
        return self.view.claim

    @property
    def is_finding(self) -> bool:
        """True for a number of ours that speaks of somebody's."""
        return self.view.claim.kind is ClaimKind.FINDING


@dataclass
class _Notes:
    """Texts that several rows share, each numbered once in the order of first use."""

    texts: list[str] = field(default_factory=list)

    def number(self, text: str) -> int:
        if text not in self.texts:
            self.texts.append(text)
        return self.texts.index(text) + 1


@dataclass(frozen=True)
class ClaimTable:
    """The claims of a package or a run, with the notes beneath them and the caveats above."""

    rows: tuple[ClaimRow, ...]
    tolerance_notes: tuple[str, ...]
    caveats: tuple[str, ...]
    marked_caveats: tuple[tuple[str, str], ...]
    ran: bool


def claim_table(views: Iterable[ClaimView], manifest: Manifest, ran: bool) -> ClaimTable:
    """Lay out claims: findings beneath, reasons of tolerances as notes, caveats lettered."""
    reasons, caveats, told = _Notes(), _Notes(), set[str]()
    rows: list[ClaimRow] = []
    for view in views:
        rows.append(_row(view, None, manifest, reasons, caveats, told))
        rows += [_row(finding, view, manifest, reasons, caveats, told) for finding in view.findings]
    marked = tuple((_letter(n), text) for n, text in enumerate(caveats.texts, start=1))
    return ClaimTable(tuple(rows), tuple(reasons.texts), manifest.caveats, marked, ran)


def _row(
    view: ClaimView,
    about: ClaimView | None,
    manifest: Manifest,
    reasons: _Notes,
    caveats: _Notes,
    told: set[str],
) -> ClaimRow:
    claim = view.claim
    reason = claim.relation.reason if claim.relation else ""
    first = bool(reason) and reason not in told
    told.add(reason)
    return ClaimRow(
        view=view,
        about=about.claim if about else None,
        digits=_digits(view),
        tolerance_note=reasons.number(claim.tolerance.reason),
        caveat_marks=tuple(_letter(caveats.number(c)) for c in claim.caveats if c not in manifest.caveats),
        contradicted=any(
            other.claim.relation is not None
            and other.claim.relation.kind == "contradicts"
            and other.outcome.confirms
            for other in view.findings
        ),
        reason_first=first,
    )


def _digits(view: ClaimView) -> f.Digits | None:
    """The recomputed number, cut for print; None when there is none."""
    if view.observed is None:
        return None
    return f.digits(view.claim.value, view.observed, strict=view.outcome.denies)


def _letter(number: int) -> str:
    """1 -> a, 26 -> z, 27 -> aa"""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters


def sources(manifest: Manifest, views: Sequence[SourceView]) -> list[tuple[Source, SourceView | None]]:
    """Each source of the manifest beside what a run said of it."""
    seen = {view.title: view for view in views}
    return [(source, seen.get(source.title)) for source in manifest.sources]


def citation(work: Work) -> str:
    """The paper in one line, from what the record holds and nothing else."""
    authors, year = ", ".join(a.name for a in work.authors), f"({work.year})" if work.year else ""
    title, venue = work.title.rstrip("."), work.venue or ""
    opening = [f"{authors} {year}".strip(), title] if authors else [f"{title} {year}".strip()]
    text = ". ".join(piece for piece in [*opening, venue] if piece) + "."
    doi = next((i.value for i in work.identifiers if i.scheme == "doi"), None)
    return f"{text} https://doi.org/{doi}" if doi else text


def work_context(page: WorkPage) -> dict[str, Any]:
    """A record page."""
    doi = next((i for i in page.work.identifiers if i.scheme == "doi"), None)
    facts = (
        ("Type", page.work.type),
        ("Year", str(page.work.year) if page.work.year else None),
        ("Language", page.work.language),
        ("Venue", page.work.venue),
    )
    return {
        "page": page,
        "work": page.work,
        "doi": doi,
        "facts": [(name, value) for name, value in facts if value],
        "citation": citation(page.work),
    }


def artifact_context(page: ArtifactPage) -> dict[str, Any]:
    """A package's page."""
    return {
        "page": page,
        "manifest": page.manifest,
        "run": page.latest_run,
        "table": claim_table(page.claims, page.manifest, page.latest is not None),
        "sources": sources(page.manifest, page.sources),
        "newest": page.version == max(page.versions, default=page.version),
    }


def verification_context(page: VerificationPage) -> dict[str, Any]:
    """A run's page."""
    return {
        "page": page,
        "manifest": page.manifest,
        "run": page.run,
        "table": claim_table(page.claims, page.manifest, ran=True),
        "sources": sources(page.manifest, page.sources),
    }
