"""A run without a catalog (of a folder), as the same views that `catalog.queries` gives of a stored one."""

from dataclasses import dataclass

from artifacts.verdict import files_match, standing_of
from catalog.pages import ClaimView, FileView, SourceView
from schema.artifact import Claim, Manifest
from schema.states import ClaimKind, FileState
from schema.verification import Check, Verification


@dataclass(frozen=True)
class RunView:
    """What a run says of each claim, file and source."""

    claims: tuple[ClaimView, ...]
    files: tuple[FileView, ...]
    sources: tuple[SourceView, ...]


def view(manifest: Manifest, run: Verification) -> RunView:
    """Lay a run beside the manifest that it checked."""
    checks = {kind: [c for c in run.checks if c.kind == kind] for kind in ("file", "source", "claim")}
    match = files_match(run.checks)
    views = {claim.id: _claim(claim, checks["claim"], match) for claim in manifest.claims}
    findings: dict[str, list[ClaimView]] = {}
    for claim in manifest.claims:
        if claim.relation is not None:
            findings.setdefault(claim.relation.claim, []).append(views[claim.id])
    claims = tuple(
        ClaimView(v.claim, v.standing, v.observed, v.difference, v.checks, tuple(findings.get(name, ())))
        for name, v in views.items()
        if v.claim.kind is ClaimKind.PUBLISHED
    )
    listed = {file.path: file for file in manifest.files}
    files = tuple(
        FileView(c.subject, listed.get(c.subject), FileState(c.outcome), c.observed, c.detail)
        for c in checks["file"]
    )
    sources = tuple(
        SourceView(source.title, tuple(c for c in checks["source"] if c.subject == source.title))
        for source in manifest.sources
    )
    return RunView(claims, files, sources)


def _claim(claim: Claim, checks: list[Check], match: bool) -> ClaimView:
    own = tuple(c for c in checks if c.subject == claim.id)
    decided = standing_of(own, match)
    said = next((c for c in own if c.outcome is decided.outcome and c.analysis is not None), None)
    observed, difference = (said.observed, said.difference) if said else (None, None)
    return ClaimView(claim, decided, observed, difference, own)
