"""What verification says of the bundled packages."""

from pathlib import Path

import pytest

from artifacts.package import open_package
from artifacts.packages import bundled
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from schema.artifact import Manifest
from schema.states import ClaimKind, Depth, FileState, RunOutcome, Standing
from schema.verification import Level, Verification

# Claims that a program without any of the first one's code confirms as well, and how deep.
BY_QUERY = {
    *(f"baseline-{p}-{s}" for p in ("aware", "agnostic") for s in ("steps", "mean", "min", "max")),
    *(f"interval-{p}-{s}" for p in ("aware", "agnostic") for s in ("steps", "mean", "min", "max")),
    *(f"job-12-{p}-{s}" for p in ("aware", "agnostic") for s in ("steps", "mean", "min", "max")),
    *(f"weights-{w}-{p}-mean" for w in ("1-2-3", "1-1-1") for p in ("aware", "agnostic")),
    *(f"weights-change-{p}" for p in ("aware", "agnostic")),
    *(f"records-{p}" for p in ("aware", "agnostic")),
    "aware-above-agnostic",
    "agnostic-below-aware",
    "saved-values",
    "trace-records",
    "timesteps",
    "seven-jobs-agnostic-published",
}
# Claims about the saved files themselves: there is nothing deeper to recompute them from.
SAVED_FILES_ONLY = {"hashes-verified", "check-aware-mean", "check-agnostic-mean"}
FOUR_MEANS = [f"weights-{w}-{p}-mean" for w in ("1-2-3", "1-1-1") for p in ("aware", "agnostic")]


def verified(folder: Path, level: Level = "recompute") -> tuple[Verification, Manifest, dict[str, Standing]]:
    with open_package(folder) as package:
        run = verify_package(
            package.root,
            package.manifest,
            package.manifest_sha256,
            level=level,
            who="tests",
            origin="folder",
            code_version="tests",
        )
    return run, package.manifest, dict(claim_standings(run.checks, package.manifest))


@pytest.fixture(scope="module")
def gavel_run(gavel: Path) -> tuple[Verification, Manifest, dict[str, Standing]]:
    return verified(gavel)


def test_six_packages_are_bundled() -> None:
    assert list(bundled()) == [
        "gavel-allocation", "screening-metacan", "seer-deepswe-like", "seer-tmax-like",
        "tias-like-tradeoff", "tias-record",
    ]  # fmt: skip
    for name, folder in bundled().items():
        with open_package(folder) as package:
            assert package.manifest.id == name


def test_gavel_is_verified_with_every_claim_and_finding_confirmed(
    gavel_run: tuple[Verification, Manifest, dict[str, Standing]],
) -> None:
    run, manifest, standings = gavel_run
    assert run.outcome is RunOutcome.VERIFIED, run.verdict
    assert {name for name, s in standings.items() if not s.outcome.confirms} == set()
    published = [c for c in manifest.claims if c.kind is ClaimKind.PUBLISHED]
    assert len(published) == 47
    assert (run.counts.claims, run.counts.confirmed) == (69, 69)
    assert (run.counts.findings, run.counts.findings_confirmed) == (22, 22)
    assert (run.counts.files, run.counts.files_matching) == (28, 28)
    assert (run.counts.saved, run.counts.denied, run.counts.could_not_run) == (0, 0, 0)


@pytest.mark.parametrize("name", FOUR_MEANS)
def test_the_four_means_are_recomputed_within_a_billionth(
    gavel_run: tuple[Verification, Manifest, dict[str, Standing]], name: str
) -> None:
    run, _, standings = gavel_run
    main = next(c for c in run.checks if c.subject == name and c.analysis == "gavel-allocation")
    assert main.observed is not None
    assert main.expected is not None
    assert float(main.observed) == pytest.approx(float(main.expected), rel=1e-9)
    assert standings[name].depth is Depth.RECOMPUTED
    assert standings[name].independent is Depth.REAGGREGATED


def test_every_claim_reaches_the_expected_depth(
    gavel_run: tuple[Verification, Manifest, dict[str, Standing]],
) -> None:
    _, _, standings = gavel_run
    shallow = {name for name, s in standings.items() if s.depth is not Depth.RECOMPUTED}
    assert shallow == SAVED_FILES_ONLY
    assert {standings[name].depth for name in SAVED_FILES_ONLY} == {Depth.REAGGREGATED}


def test_independence_is_what_a_second_program_reached(
    gavel_run: tuple[Verification, Manifest, dict[str, Standing]],
) -> None:
    _, manifest, standings = gavel_run
    exact = {c.id for c in manifest.claims if c.kind is ClaimKind.FINDING} - BY_QUERY
    assert {n for n, s in standings.items() if s.independent is Depth.REAGGREGATED} == BY_QUERY
    assert {n for n, s in standings.items() if s.independent is Depth.RECOMPUTED} == {*exact, "jobs"}


def test_the_page_of_ours_is_checked_and_the_articles_is_only_recorded(
    gavel_run: tuple[Verification, Manifest, dict[str, Standing]],
) -> None:
    run, _, _ = gavel_run
    outcomes = {
        (c.subject.split(",")[0].split(" (")[0], c.outcome.value) for c in run.checks if c.kind == "source"
    }
    assert outcomes == {
        ("Saved allocation trace", "identical"),
        ("How should AI jobs share different GPUs?", "not_recomputed"),
        ("Gavel: inspect the saved allocation trace", "not_recomputed"),
        ("Throughput figures of Gavel", "not_recomputed"),
    }


def test_reaggregation_alone_confirms_what_the_saved_trace_can(gavel: Path) -> None:
    run, _, standings = verified(gavel, "reaggregate")
    assert run.outcome is RunOutcome.VERIFIED
    confirmed = {name for name, s in standings.items() if s.outcome.confirms}
    assert confirmed >= (BY_QUERY | SAVED_FILES_ONLY)
    assert {standings[name].depth for name in confirmed} == {Depth.REAGGREGATED}


def test_a_changed_claim_differs_and_a_changed_byte_is_a_mismatch(copy: Path) -> None:
    manifest = copy / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace('"value": "7.750821276"', '"value": "7.750821376"'), encoding="utf-8")
    table = copy / "outputs/baseline.csv"
    table.write_bytes(table.read_bytes().replace(b"7.7508", b"7.7509", 1))
    run, _, standings = verified(copy, "reaggregate")
    assert run.outcome is RunOutcome.FAILED
    assert [name for name, s in standings.items() if s.outcome.denies] == ["weights-1-2-3-aware-mean"]
    assert [c.subject for c in run.checks if c.outcome is FileState.MISMATCH] == ["outputs/baseline.csv"]


def test_tias_is_incomplete_with_nineteen_saved_claims(tias: Path) -> None:
    run, _, standings = verified(tias)
    assert run.outcome is RunOutcome.INCOMPLETE
    assert (run.counts.claims, run.counts.saved, run.counts.confirmed) == (19, 19, 0)
    assert {s.depth for s in standings.values()} == {Depth.SAVED}
    assert "19" in run.verdict
