"""What a run lets us say of claims, in counts and in one or two sentences."""

from collections.abc import Mapping, Sequence

from schema.artifact import Claim, Manifest
from schema.states import (
    CheckOutcome,
    ClaimKind,
    Depth,
    EvidenceResult,
    FileState,
    RunOutcome,
    Standing,
    standing,
)
from schema.verification import Check, Counts

_CULPRITS = 3
_SHOWN = 80
_DEPTH_WORDS = {
    Depth.RECOMPUTED: "recomputed from primary inputs",
    Depth.REAGGREGATED: "re-aggregated from saved outputs",
    Depth.HASH: "with unchanged bytes only",
    Depth.SAVED: "with nothing computed behind them",
}


def claim_standings(checks: Sequence[Check], manifest: Manifest) -> dict[str, Standing]:
    """What the checks of one run say of each claim, in the order of the manifest."""
    by_claim: dict[str, list[Check]] = {claim.id: [] for claim in manifest.claims}
    for check in checks:
        if check.kind == "claim" and check.subject in by_claim:
            by_claim[check.subject].append(check)
    match = files_match(checks)
    return {name: standing_of(own, match) for name, own in by_claim.items()}


def standing_of(checks: Sequence[Check], match: bool) -> Standing:
    """The standing of one claim from its own checks; one without analysis is no evidence."""
    evidence = [
        EvidenceResult(CheckOutcome(check.outcome), check.depth, check.implementation)
        for check in checks
        if check.analysis is not None
    ]
    return standing(evidence, match)


def deciding_check(checks: Sequence[Check], stands: Standing) -> Check | None:
    """The check that gave a claim its outcome, and its depth where it is confirmed."""
    same = [c for c in checks if c.outcome is stands.outcome]
    deepest = [c for c in same if c.depth is stands.depth] if stands.outcome.confirms else same
    return next(iter(deepest or same), None)


def files_match(checks: Sequence[Check]) -> bool:
    """Whether every file that the manifest lists has the recorded bytes."""
    states = [c.outcome for c in checks if c.kind == "file" and c.outcome is not FileState.UNLISTED]
    return all(state is FileState.MATCH for state in states)


def count(checks: Sequence[Check], manifest: Manifest, standings: Mapping[str, Standing]) -> Counts:
    """How files and claims came out; each claim is counted in one of the claim counts."""
    listed = [c for c in checks if c.kind == "file" and c.outcome is not FileState.UNLISTED]
    confirmed = [c for c in manifest.claims if standings[c.id].outcome.confirms]
    findings = [c for c in manifest.claims if c.kind is ClaimKind.FINDING]
    left = [c for c in manifest.claims if standings[c.id].outcome is CheckOutcome.NOT_RECOMPUTED]
    return Counts(
        files=len(listed),
        files_matching=sum(c.outcome is FileState.MATCH for c in listed),
        claims=len(manifest.claims),
        confirmed=len(confirmed),
        denied=sum(s.outcome.denies for s in standings.values()),
        could_not_run=sum(s.outcome.could_not_run for s in standings.values()),
        not_recomputed=sum(bool(c.evidence) for c in left),
        saved=sum(not c.evidence for c in left),
        findings=len(findings),
        findings_confirmed=sum(standings[c.id].outcome.confirms for c in findings),
        independent=sum(standings[c.id].independent is not None for c in confirmed),
    )


def weakest_depth(manifest: Manifest, standings: Mapping[str, Standing]) -> Depth:
    """The weakest depth among confirmed published claims, else saved."""
    depths = [
        standings[c.id].depth
        for c in manifest.claims
        if c.kind is ClaimKind.PUBLISHED and standings[c.id].outcome.confirms
    ]
    return min(depths, key=lambda d: d.rank, default=Depth.SAVED)


def verdict(
    outcome: RunOutcome,
    checks: Sequence[Check],
    manifest: Manifest,
    standings: Mapping[str, Standing],
    counts: Counts,
) -> str:
    """One to three plain sentences; what failed or couldn't run comes first, by name."""
    confirmed = _confirmed_sentence(manifest, standings) + _remainder(counts)
    if outcome is RunOutcome.VERIFIED:
        return f"Verified: {confirmed}."
    if outcome is RunOutcome.FAILED:
        return f"Failed: {_failures(checks, manifest, standings)}. {_capitalised(confirmed)}."
    stopped = [c for c in checks if isinstance(c.outcome, CheckOutcome) and c.outcome.could_not_run]
    if stopped:
        which = _some([f"{c.subject} ({_plain(c.outcome)})" for c in _first_of_each(stopped)])
        return f"Incomplete: some checks couldn't be run: {which}. {_capitalised(confirmed)}."
    files = f"all {counts.files} files match" if counts.files > 1 else "the file matches"
    return f"Incomplete: {files}, but no claim was recomputed{_remainder(counts)}."


def _confirmed_sentence(manifest: Manifest, standings: Mapping[str, Standing]) -> str:
    published = [c for c in manifest.claims if c.kind is ClaimKind.PUBLISHED]
    findings = [c for c in manifest.claims if c.kind is ClaimKind.FINDING]
    good = [c for c in published if standings[c.id].outcome.confirms]
    words = f"{_of(len(good), len(published), 'published claim')} confirmed"
    by_depth = [(d, sum(standings[c.id].depth is d for c in good)) for d in reversed(Depth)]
    parts = [f"{number} {_DEPTH_WORDS[depth]}" for depth, number in by_depth if number]
    independent = sum(standings[c.id].independent is not None for c in good)
    if independent:
        parts.append(f"{independent} also by a second implementation")
    if parts:
        words += f" ({', '.join(parts)})"
    if findings:
        words += "; " + _findings_words(findings, standings)
    return words


def _findings_words(findings: list[Claim], standings: Mapping[str, Standing]) -> str:
    good = [f for f in findings if standings[f.id].outcome.confirms]
    words = f"{_of(len(good), len(findings), 'finding')} confirmed"
    spoken = {f.relation.claim for f in good if f.relation is not None and f.relation.kind == "contradicts"}
    if spoken:
        words += f", contradicting {len(spoken)} published claim{'s' if len(spoken) > 1 else ''}"
    return words


def _remainder(counts: Counts) -> str:
    parts = []
    if counts.not_recomputed:
        parts.append(f"{counts.not_recomputed} left out of this run")
    if counts.saved:
        parts.append(
            f"{counts.saved} only saved, with nothing to recompute {'it' if counts.saved == 1 else 'them'}"
        )
    return f"; {', '.join(parts)}" if parts else ""


def _failures(checks: Sequence[Check], manifest: Manifest, standings: Mapping[str, Standing]) -> str:
    parts = []
    files = [c for c in checks if c.kind == "file" and c.outcome is not FileState.MATCH]
    if files:
        number = "1 file isn't" if len(files) == 1 else f"{len(files)} files aren't"
        parts.append(f"{number} as recorded: " + _some([_file_words(c) for c in files]))
    sources = [
        c for c in checks if c.kind == "source" and isinstance(c.outcome, CheckOutcome) and c.outcome.denies
    ]
    if sources:
        parts.append("a source differs: " + _some([c.subject for c in _first_of_each(sources)]))
    denied = [c.id for c in manifest.claims if standings[c.id].outcome.denies]
    if denied:
        number = "1 claim doesn't" if len(denied) == 1 else f"{len(denied)} claims don't"
        denials = [c for c in checks if c.kind == "claim" and CheckOutcome(c.outcome).denies]
        culprits = {c.subject: c for c in _first_of_each(denials)}
        parts.append(f"{number} come out: " + _some([_claim_words(culprits[name]) for name in denied]))
    return "; ".join(parts)


def _file_words(check: Check) -> str:
    return f"{check.subject} ({check.outcome.value}{': ' + check.detail if check.detail else ''})"


def _claim_words(check: Check) -> str:
    if check.observed is None:
        return f"{check.subject} (not produced)"
    return f"{check.subject} ({_short(check.expected or '')} claimed, {_short(check.observed)} computed)"


def _short(value: str) -> str:
    return value if len(value) <= _SHOWN else value[: _SHOWN - 3] + "..."


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _CULPRITS} more" if len(names) > _CULPRITS else ""
    return ", ".join(names[:_CULPRITS]) + more


def _first_of_each(checks: Sequence[Check]) -> list[Check]:
    return list({check.subject: check for check in reversed(checks)}.values())[::-1]


def _of(part: int, whole: int, noun: str) -> str:
    if whole == 0:
        return f"no {noun}"
    return f"{part} of {whole} {noun}{'s' if whole > 1 else ''}"


def _plain(outcome: CheckOutcome | FileState) -> str:
    return outcome.value.replace("_", " ")


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
