"""A package against itself: every file hashed, every source checked, every claim computed again.

An analysis runs on the bytes that were hashed: its inputs are copied in the same pass into a private
folder. What doesn't match isn't read, and what can't run is said to be so.
"""

import shutil
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from artifacts.analyses import AnalysisResult, ProcessLimits
from artifacts.compare import NotProduced, compare, value_at
from artifacts.environment import environment
from artifacts.extract import compare_extraction
from artifacts.files import FileResult, Progress, Resolve, hash_package
from artifacts.package import temporary_folder
from artifacts.runner import Runner
from artifacts.verdict import claim_standings, count, verdict, weakest_depth
from schema.artifact import Analysis, Claim, Evidence, Manifest, Source
from schema.states import CheckOutcome, Depth, FileState, depth_of, run_outcome
from schema.verification import Check, Level, Verification


def verify_package(
    root: Path,
    manifest: Manifest,
    manifest_sha256: str,
    *,
    level: Level = "recompute",
    who: str,
    origin: Literal["store", "folder"],
    code_version: str,
    git_commit: str | None = None,
    resolve: Resolve | None = None,
    progress: Progress | None = None,
    limits: ProcessLimits | None = None,
) -> Verification:
    """Verify one package and give the run to be stored.

    Files are read at `root`/path, or where `resolve` says (a stored package: then nothing is
    unlisted). `progress` is called with (what, done, total): bytes while files are hashed, then
    analyses. Raises StoreError when the private copies can't be written; all else is in the run.
    """
    started = _now()
    folder = temporary_folder("verify")
    try:
        run = _Run(manifest, level, folder, limits)
        copies = {path: folder / path for path in run.paths_to_read()}
        files = hash_package(root, manifest, resolve=resolve, copies=copies, progress=progress)
        checks = run.checks(files, progress)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    standings = claim_standings(checks, manifest)
    counts = count(checks, manifest, standings)
    outcome = run_outcome(
        [FileState(c.outcome) for c in checks if c.kind == "file"],
        [CheckOutcome(c.outcome) for c in checks if c.kind == "source"],
        standings.values(),
    )
    return Verification(
        artifact=manifest.id,
        work=manifest.work.id or manifest.id,
        manifest_sha256=manifest_sha256,
        origin=origin,
        level=level,
        outcome=outcome,
        depth=weakest_depth(manifest, standings),
        verdict=verdict(outcome, checks, manifest, standings, counts),
        counts=counts,
        started_at=started,
        finished_at=_now(),
        who=who,
        code_version=code_version,
        git_commit=git_commit,
        seeds=run.seeds(),
        environment=environment(),
        checks=tuple(checks),
    )


def analysis_depth(
    analysis: Analysis, roles: Mapping[str, str], inputs: Iterable[str] | None = None
) -> Depth:
    """How deep an analysis reaches, by the roles that its inputs (or those named) have by path."""
    names = analysis.inputs if inputs is None else [name for name in inputs if name in analysis.inputs]
    return depth_of(roles[analysis.inputs[name]] for name in names)


class _Run:
    """One run: which analyses the level allows, and the checks that they give."""

    def __init__(self, manifest: Manifest, level: Level, folder: Path, limits: ProcessLimits | None) -> None:
        self._manifest, self._folder, self._limits = manifest, folder, limits
        self._analyses = {a.id: a for a in manifest.analyses}
        self._roles = {f.path: f.role for f in manifest.files}
        self._depths = {a.id: analysis_depth(a, self._roles) for a in manifest.analyses}
        self._reached_by: dict[str, Depth] = {}
        named = {evidence.analysis for claim in manifest.claims for evidence in claim.evidence}
        self._chosen = [a for a in manifest.analyses if a.id in named and _allowed(self._depths[a.id], level)]
        self._level = level
        self._match = False
        self._states: dict[str, FileResult] = {}
        self._results: dict[str, AnalysisResult] = {}

    def seeds(self) -> dict[str, int]:
        """The seed of each analysis that was run with one: a query takes none."""
        return {a.id: a.seed for a in self._chosen if a.kind == "builtin"}

    def paths_to_read(self) -> set[str]:
        """Package paths that some analysis of this run, or an extraction, reads."""
        paths = {path for a in self._chosen if a.kind in ("query", "builtin") for path in a.inputs.values()}
        for source in self._manifest.sources:
            if source.selector is not None:
                paths.update(path for path in (source.file, source.equals) if path is not None)
        return paths

    def checks(self, files: list[FileResult], progress: Progress | None) -> list[Check]:
        """All checks: files, then sources, then claims, each in the order of the manifest."""
        self._states = {result.path: result for result in files if result.expected is not None}
        self._match = all(result.state is FileState.MATCH for result in self._states.values())
        checks = [_file_check(result) for result in files]
        with Runner(self._limits) as runner:
            for source in self._manifest.sources:
                checks += self._source_checks(runner, source)
            for number, analysis in enumerate(self._chosen, 1):
                self._results[analysis.id] = self._run(runner, analysis)
                if progress is not None:
                    progress(analysis.id, number, len(self._chosen))
            for claim in self._manifest.claims:
                checks += [self._evidence_check(runner, claim, evidence) for evidence in claim.evidence]
                if not claim.evidence:
                    checks.append(_saved_check(claim))
        return checks

    def _run(self, runner: Runner, analysis: Analysis) -> AnalysisResult:
        for path in analysis.inputs.values():
            result = self._states[path]
            if result.state is not FileState.MATCH:
                detail = (
                    f"analysis {analysis.id}: wasn't run, because {path} ({result.state.value}) "
                    "isn't the package's file"
                )
                return AnalysisResult(
                    runner.implementation(analysis), failure=CheckOutcome.REFUSED, detail=detail
                )
        return runner.run(analysis, lambda path: self._folder / path)

    def _evidence_check(self, runner: Runner, claim: Claim, evidence: Evidence) -> Check:
        def check(outcome: CheckOutcome, depth: Depth | None = None, **facts: str | None) -> Check:
            return Check(
                kind="claim",
                subject=claim.id,
                analysis=evidence.analysis,
                pointer=evidence.pointer,
                expected=claim.value,
                outcome=outcome,
                depth=depth or (Depth.HASH if self._match else Depth.SAVED),
                **facts,
            )

        result = self._results.get(evidence.analysis)
        if result is None:
            analysis = self._analyses[evidence.analysis]
            return check(
                CheckOutcome.NOT_RECOMPUTED,
                implementation=runner.implementation(analysis) if self._level != "hash" else None,
                detail=self._why_left_out(analysis),
            )
        label = result.implementation
        if result.failure is not None:
            return check(result.failure, implementation=label, detail=result.detail)
        depth = self._reached(evidence.analysis, result)
        if depth is Depth.SAVED:
            detail = f"analysis {evidence.analysis}: read no file of the package, so it recomputes nothing"
            return check(CheckOutcome.NOT_RECOMPUTED, implementation=label, detail=detail)
        if _repeats_a_parameter(self._analyses[evidence.analysis], result.outputs, evidence.pointer):
            detail = f"analysis {evidence.analysis}: was given this as a parameter, so it recomputes nothing"
            return check(CheckOutcome.NOT_RECOMPUTED, implementation=label, detail=detail)
        try:
            observed = value_at(result.outputs, evidence.pointer)
        except NotProduced as error:
            return check(CheckOutcome.NOT_PRODUCED, implementation=label, detail=str(error))
        compared = compare(claim, observed)
        return check(
            compared.outcome,
            depth if compared.outcome.confirms else None,
            observed=compared.observed,
            difference=compared.difference,
            implementation=label,
            detail=compared.detail,
        )

    def _reached(self, name: str, result: AnalysisResult) -> Depth:
        """The depth by declared inputs, or the lesser one by those that a query really read."""
        declared = self._depths[name]
        if result.read is None:
            return declared
        if name not in self._reached_by:
            read = analysis_depth(self._analyses[name], self._roles, result.read)
            self._reached_by[name] = min(declared, read, key=lambda d: d.rank)
        return self._reached_by[name]

    def _why_left_out(self, analysis: Analysis) -> str:
        depth = self._depths[analysis.id]
        if depth is Depth.SAVED:
            return f"analysis {analysis.id}: reads no file of the package, so it would recompute nothing"
        return f"analysis {analysis.id}: left out at level {self._level!r}"

    def _source_checks(self, runner: Runner, source: Source) -> list[Check]:
        if source.file is None:
            return [_unchecked(source, "the page is not in the package, so nothing here checks it")]
        checks = []
        if source.git_blob_sha1 is not None:
            checks.append(self._blob_check(source, source.file, source.git_blob_sha1))
        if source.selector is not None and source.equals is not None:
            checks.append(self._extraction_check(runner, source, source.file, source.selector, source.equals))
        return checks or [
            _unchecked(source, "neither a git blob SHA-1 nor a selector is given to check it by")
        ]

    def _blob_check(self, source: Source, file: str, recorded: str) -> Check:
        observed = self._states[file].observed
        sha1 = None if observed is None else observed.git_blob_sha1
        same = sha1 == recorded
        outcome = (
            CheckOutcome.IDENTICAL if same else CheckOutcome.REFUSED if sha1 is None else CheckOutcome.DIFFERS
        )
        detail = (
            None if same else f"{file}: {'is not there' if sha1 is None else 'has another git blob SHA-1'}"
        )
        return Check(
            kind="source",
            subject=source.title,
            expected=recorded,
            observed=sha1,
            outcome=outcome,
            depth=Depth.HASH if same else Depth.SAVED,
            detail=detail,
        )

    def _extraction_check(
        self, runner: Runner, source: Source, file: str, selector: str, equals: str
    ) -> Check:
        outcome, detail = self._extracted(runner, file, selector, equals)
        return Check(
            kind="source",
            subject=source.title,
            pointer=selector,
            expected=equals,
            observed=file,
            outcome=outcome,
            depth=Depth.HASH if outcome.confirms else Depth.SAVED,
            detail=detail,
        )

    def _extracted(
        self, runner: Runner, file: str, selector: str, equals: str
    ) -> tuple[CheckOutcome, str | None]:
        for path in (file, equals):
            if self._states[path].state is not FileState.MATCH:
                state = self._states[path].state.value
                return (
                    CheckOutcome.REFUSED,
                    f"wasn't compared, because {path} ({state}) isn't the package's file",
                )
        result = runner.extract(self._folder / file, selector, file)
        if result.failure is not None:
            return result.failure, result.detail
        extraction = compare_extraction(result.outputs, (self._folder / equals).read_bytes(), equals)
        return extraction.outcome, extraction.detail


def _repeats_a_parameter(analysis: Analysis, outputs: Any, pointer: str) -> bool:
    """Whether a claim points into `parameters` of a builtin that gives back there what it was given."""
    if analysis.kind != "builtin" or not analysis.parameters or not f"{pointer}/".startswith("/parameters/"):
        return False
    given_back = outputs.get("parameters") if isinstance(outputs, dict) else None
    return isinstance(given_back, dict) and analysis.parameters.items() <= given_back.items()


def _allowed(depth: Depth, level: Level) -> bool:
    if level == "hash" or depth is Depth.SAVED:
        return False
    return level == "recompute" or depth is Depth.REAGGREGATED


def _file_check(result: FileResult) -> Check:
    return Check(
        kind="file",
        subject=result.path,
        expected=result.expected.sha256 if result.expected else None,
        observed=result.observed.sha256 if result.observed else None,
        outcome=result.state,
        depth=Depth.HASH if result.state is FileState.MATCH else Depth.SAVED,
        detail=result.detail,
    )


def _unchecked(source: Source, why: str) -> Check:
    return Check(
        kind="source",
        subject=source.title,
        outcome=CheckOutcome.NOT_RECOMPUTED,
        detail=f"recorded as given; {why}",
    )


def _saved_check(claim: Claim) -> Check:
    detail = "no analysis is named for it, so nothing can recompute it"
    return Check(
        kind="claim",
        subject=claim.id,
        expected=claim.value,
        outcome=CheckOutcome.NOT_RECOMPUTED,
        depth=Depth.SAVED,
        detail=detail,
    )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
