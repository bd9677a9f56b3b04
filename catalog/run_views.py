"""A run laid beside the manifest that it checked: of a stored package and of a folder alike."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from artifacts.verdict import deciding_check, files_match, standing_of
from catalog.pages import ClaimView, FileView, SourceView
from schema.artifact import Claim, File, Manifest
from schema.states import ClaimKind, FileState
from schema.verification import Check, Verification


@dataclass(frozen=True)
class RunViews:
    """What a run says of each claim, file and source; without a run, that it says nothing yet.

    Published claims come in the manifest's order with their findings beneath; listed files in the
    manifest's order, then those that nobody listed.
    """

    claims: tuple[ClaimView, ...]
    files: tuple[FileView, ...]
    sources: tuple[SourceView, ...]


def run_views(manifest: Manifest, run: Verification | None) -> RunViews:
    """Lay a run (or None: never verified) beside its manifest."""
    checks = run.checks if run is not None else ()
    by_subject: dict[tuple[str, str], list[Check]] = {}
    for check in checks:
        by_subject.setdefault((check.kind, check.subject), []).append(check)
    match = run is not None and files_match(checks)
    claims = {c.id: _claim(c, by_subject.get(("claim", c.id), []), match) for c in manifest.claims}
    return RunViews(
        claims=_with_findings(claims),
        files=_files(manifest, [check for check in checks if check.kind == "file"]),
        sources=tuple(
            SourceView(s.title, tuple(by_subject.get(("source", s.title), ()))) for s in manifest.sources
        ),
    )


def _with_findings(views: dict[str, ClaimView]) -> tuple[ClaimView, ...]:
    findings: dict[str, list[ClaimView]] = {}
    for view in views.values():
        if view.claim.relation is not None:
            findings.setdefault(view.claim.relation.claim, []).append(view)
    return tuple(
        replace(view, findings=tuple(findings.get(name, ())))
        for name, view in views.items()
        if view.claim.kind is ClaimKind.PUBLISHED
    )


def _claim(claim: Claim, checks: Sequence[Check], match: bool) -> ClaimView:
    decided = standing_of(checks, match)
    first = deciding_check(checks, decided)
    observed, difference = (first.observed, first.difference) if first else (None, None)
    return ClaimView(claim, decided, observed, difference, tuple(checks))


def _files(manifest: Manifest, checks: Sequence[Check]) -> tuple[FileView, ...]:
    left = {check.subject: check for check in checks}
    listed = [_file(file.path, file, left.pop(file.path, None)) for file in manifest.files]
    return (*listed, *(_file(path, None, check) for path, check in left.items()))


def _file(path: str, listed: File | None, check: Check | None) -> FileView:
    if check is None:
        return FileView(path, listed, None, None, None)
    return FileView(path, listed, FileState(check.outcome), check.observed, check.detail)
