"""A run as rows for a person: claims with what came out, findings under the claim they speak of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from artifacts.verdict import files_match, standing_of
from schema.artifact import Claim, Manifest
from schema.states import CheckOutcome, ClaimKind, FileState, Standing
from schema.verification import Check, Verification


@dataclass(frozen=True)
class ReportLine:
    """One row of a report.

    `indent` is 1 for a finding under its claim. For a claim, `outcome`, `depth` and `independent`
    are its standing, and `observed`, `difference` and `detail` those of the check that decided it.
    """

    kind: Literal["file", "source", "claim", "finding", "verdict"]
    subject: str
    text: str
    indent: int = 0
    stored: str | None = None
    observed: str | None = None
    difference: str | None = None
    unit: str | None = None
    outcome: str | None = None
    depth: str | None = None
    independent: str | None = None
    relation: str | None = None
    detail: str | None = None


def report_lines(run: Verification, manifest: Manifest) -> list[ReportLine]:
    """Files and sources that don't match, then each claim with its findings, then the verdict."""
    lines = [
        ReportLine("file", c.subject, c.subject, outcome=c.outcome.value, detail=c.detail)
        for c in run.checks
        if c.kind == "file" and c.outcome is not FileState.MATCH
    ]
    lines += [_source_line(c) for c in run.checks if c.kind == "source"]
    match = files_match(run.checks)
    findings: dict[str, list[Claim]] = {}
    for claim in manifest.claims:
        if claim.relation is not None:
            findings.setdefault(claim.relation.claim, []).append(claim)
    for claim in manifest.claims:
        if claim.kind is ClaimKind.PUBLISHED:
            lines.append(_claim_line(run, claim, match, 0))
            lines += [_claim_line(run, finding, match, 1) for finding in findings.get(claim.id, [])]
    lines.append(
        ReportLine("verdict", run.artifact, run.verdict, outcome=run.outcome.value, depth=run.depth.value)
    )
    return lines


def _source_line(check: Check) -> ReportLine:
    what = f"{check.pointer} equals {check.expected}" if check.pointer else "git blob SHA-1 of the page"
    if check.outcome is CheckOutcome.NOT_RECOMPUTED:
        what = "not in the package"
    return ReportLine(
        "source",
        check.subject,
        what,
        outcome=check.outcome.value,
        depth=check.depth.value,
        detail=check.detail,
    )


def _claim_line(run: Verification, claim: Claim, match: bool, indent: int) -> ReportLine:
    checks = [c for c in run.checks if c.kind == "claim" and c.subject == claim.id]
    stands = standing_of(checks, match)
    deciding = deciding_check(checks, stands)
    return ReportLine(
        "finding" if claim.kind is ClaimKind.FINDING else "claim",
        claim.id,
        claim.text,
        indent,
        stored=claim.value,
        observed=deciding.observed if deciding else None,
        difference=deciding.difference if deciding else None,
        unit=claim.unit,
        outcome=stands.outcome.value,
        depth=stands.depth.value,
        independent=stands.independent.value if stands.independent else None,
        relation=f"{claim.relation.kind} {claim.relation.claim}" if claim.relation else None,
        detail=deciding.detail if deciding else None,
    )


def deciding_check(checks: Sequence[Check], stands: Standing) -> Check | None:
    """The check that gave a claim its outcome, and its depth where it is confirmed."""
    same = [c for c in checks if c.outcome is stands.outcome]
    deepest = [c for c in same if c.depth is stands.depth] if stands.outcome.confirms else same
    return next(iter(deepest or same), None)
