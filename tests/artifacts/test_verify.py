from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.analyses import ProcessLimits
from artifacts.objects import ObjectStore
from artifacts.package import open_package
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from schema.artifact import File
from schema.states import CheckOutcome, Depth, FileState, RunOutcome
from schema.verification import GENESIS, Check, Verification, chain_hash

Make = Callable[..., Path]
Verify = Callable[..., Verification]
PAGE = '<html><script id="data">[{"step":1,"total":1.50},{"step":2,"total":2.5}]</script></html>'


def claim_checks(run: Verification, name: str) -> list[Check]:
    return [c for c in run.checks if c.kind == "claim" and c.subject == name]


def check(run: Verification, name: str) -> Check:
    (only,) = claim_checks(run, name)
    return only


# --- the whole ---------------------------------------------------------------------------------


def test_a_package_that_proves_its_numbers(make_package: Make, verify: Verify) -> None:
    """(10 + 20 + 30) / 3 is 20 from an input; (1.5 + 2.5) / 2 is 2 from a saved output only."""
    run = verify(make_package())
    assert run.outcome is RunOutcome.VERIFIED
    assert run.outcome.exit_code == 0
    assert run.depth is Depth.REAGGREGATED
    assert run.verdict == (
        "Verified: 3 of 3 published claims confirmed "
        "(2 recomputed from primary inputs, 1 re-aggregated from saved outputs)."
    )
    assert (
        check(run, "mean-steps").depth,
        check(run, "mean-steps").outcome,
    ) == (Depth.RECOMPUTED, CheckOutcome.EQUAL)
    assert check(run, "jobs").outcome is CheckOutcome.IDENTICAL
    assert (
        check(run, "mean-total").depth,
        check(run, "mean-total").observed,
        check(run, "mean-total").difference,
    ) == (Depth.REAGGREGATED, "2.0", "0")
    assert (
        run.counts.files,
        run.counts.files_matching,
        run.counts.claims,
        run.counts.confirmed,
    ) == (2, 2, 3, 3)


def test_two_runs_say_the_same(make_package: Make, verify: Verify) -> None:
    """All but the times: same input, same words."""
    root = make_package()
    first, second = (verify(root).model_dump(exclude={"started_at", "finished_at"}) for _ in range(2))
    assert first == second


def test_a_run_can_be_chained(make_package: Make, verify: Verify) -> None:
    run = verify(make_package())
    assert chain_hash(GENESIS, run) == chain_hash(
        GENESIS, Verification.model_validate_json(run.model_dump_json())
    )


def test_levels(make_package: Make, verify: Verify) -> None:
    root = make_package()
    hashed = verify(root, level="hash")
    assert hashed.outcome is RunOutcome.INCOMPLETE
    assert (
        hashed.verdict
        == "Incomplete: all 2 files match, but no claim was recomputed; 3 left out of this run."
    )
    assert {Depth.HASH} == {s.depth for s in claim_standings(hashed.checks, _manifest(root)).values()}
    again = verify(root, level="reaggregate")
    assert again.outcome is RunOutcome.VERIFIED
    assert [check(again, name).outcome for name in ("mean-steps", "mean-total")] == [
        CheckOutcome.NOT_RECOMPUTED,
        CheckOutcome.EQUAL,
    ]
    assert check(again, "jobs").detail == "analysis from-jobs: left out at level 'reaggregate'"


def test_a_package_without_anything_to_recompute_is_incomplete(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    """Hashes that match prove that bytes are unchanged, and nothing about numbers."""
    for claim in draft["claims"]:
        claim["evidence"] = []
    run = verify(make_package(draft))
    assert (run.outcome, run.outcome.exit_code, run.depth) == (RunOutcome.INCOMPLETE, 4, Depth.SAVED)
    assert run.verdict == (
        "Incomplete: all 2 files match, but no claim was recomputed; "
        "3 only saved, with nothing to recompute them."
    )


def test_an_analysis_that_reads_nothing_recomputes_nothing(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    """A query that writes the number out itself would confirm anything."""
    draft["analyses"][0]["sql"] = "SELECT 20, 3"
    draft["claims"] = draft["claims"][:2]
    run = verify(make_package(draft))
    assert run.outcome is RunOutcome.INCOMPLETE
    assert check(run, "jobs").outcome is CheckOutcome.NOT_RECOMPUTED
    assert check(run, "jobs").detail == (
        "analysis from-jobs: read no file of the package, so it recomputes nothing"
    )
    draft["analyses"][0]["inputs"] = {}
    run = verify(make_package(draft))
    assert run.outcome is RunOutcome.INCOMPLETE


def test_the_depth_is_of_what_was_really_read(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    """Naming a primary input beside a saved output doesn't make a re-aggregation a recomputation."""
    draft["analyses"][1]["inputs"]["jobs"] = "inputs/jobs.csv"
    run = verify(make_package(draft))
    assert check(run, "mean-total").depth is Depth.REAGGREGATED


# --- what goes wrong ---------------------------------------------------------------------------


def test_a_wrong_claim_fails_and_is_named(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    draft["claims"][0]["value"] = "21"
    run = verify(make_package(draft))
    assert (run.outcome, run.outcome.exit_code) == (RunOutcome.FAILED, 3)
    assert run.verdict.startswith(
        "Failed: 1 claim doesn't come out: mean-steps (21 claimed, 20.0 computed). "
    )
    assert (
        check(run, "mean-steps").expected,
        check(run, "mean-steps").observed,
        check(run, "mean-steps").difference,
        check(run, "mean-steps").outcome,
    ) == ("21", "20.0", "-1", CheckOutcome.DIFFERS)


def test_a_changed_byte_fails_and_nothing_is_computed_from_it(make_package: Make, verify: Verify) -> None:
    """The number would still come out, but not from the package's bytes."""
    root = make_package()
    data = (root / "inputs/jobs.csv").read_bytes()
    (root / "inputs/jobs.csv").write_bytes(data.replace(b"0.25", b"0.26"))
    run = verify(root)
    assert run.outcome is RunOutcome.FAILED
    assert run.verdict.startswith(
        "Failed: 1 file isn't as recorded: "
        "inputs/jobs.csv (mismatch: has the recorded length but other bytes). "
        "1 of 3 published claims confirmed (1 re-aggregated from saved outputs)"
    )
    refused = check(run, "mean-steps")
    assert refused.outcome is CheckOutcome.REFUSED
    assert refused.detail == (
        "analysis from-jobs: wasn't run, because inputs/jobs.csv (mismatch) isn't the package's file"
    )
    assert (refused.observed, refused.depth) == (None, Depth.SAVED)


def test_line_endings_only_is_still_a_mismatch(make_package: Make, verify: Verify) -> None:
    root = make_package()
    data = (root / "inputs/jobs.csv").read_bytes()
    (root / "inputs/jobs.csv").write_bytes(data.replace(b"\n", b"\r\n"))
    run = verify(root)
    assert run.outcome is RunOutcome.FAILED
    assert "only in line endings: recorded with LF" in run.verdict


def test_a_missing_and_an_extra_file_fail(make_package: Make, verify: Verify) -> None:
    root = make_package()
    (root / "inputs/jobs.csv").unlink()
    (root / "notes.txt").write_text("x")
    run = verify(root)
    assert run.outcome is RunOutcome.FAILED
    assert "2 files aren't as recorded: inputs/jobs.csv (missing), notes.txt (unlisted)" in run.verdict
    assert {c.subject: c.outcome for c in run.checks if c.kind == "file"} == {
        "inputs/jobs.csv": FileState.MISSING,
        "outputs/trace.json": FileState.MATCH,
        "notes.txt": FileState.UNLISTED,
    }


def test_a_pointer_to_nothing_is_not_produced(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    draft["claims"][0]["evidence"][0]["pointer"] = "/rows/7/0"
    run = verify(make_package(draft))
    assert run.outcome is RunOutcome.FAILED
    assert (
        check(run, "mean-steps").outcome,
        check(run, "mean-steps").detail,
    ) == (CheckOutcome.NOT_PRODUCED, "the list at '/rows' ends before 7; its length is 1")
    assert "mean-steps (not produced)" in run.verdict


def test_a_query_that_is_stopped_leaves_the_run_incomplete(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    draft["analyses"][0]["sql"] = (
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"
    )
    run = verify(make_package(draft), limits=ProcessLimits(longest_s=1))
    assert (run.outcome, run.outcome.exit_code) == (RunOutcome.INCOMPLETE, 4)
    assert run.verdict.startswith(
        "Incomplete: some checks couldn't be run: mean-steps (timed out), jobs (timed out). 1 of 3 published"
    )


def test_a_package_own_code_is_refused(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    draft["analyses"][0] = {
        "id": "from-jobs",
        "kind": "command",
        "inputs": {"jobs": "inputs/jobs.csv"},
        "argv": ["python", "run.py"],
    }
    run = verify(make_package(draft))
    assert run.outcome is RunOutcome.INCOMPLETE
    assert check(run, "jobs").outcome is CheckOutcome.REFUSED
    assert check(run, "jobs").detail == (
        "from-jobs is a command, and this version never runs a package's own code"
    )


# --- sources -----------------------------------------------------------------------------------


def with_page(draft: dict[str, Any], **more: Any) -> dict[str, Any]:
    source = {
        "title": "the page",
        "file": "page.html",
        "selector": "script#data",
        "equals": "outputs/trace.json",
    }
    draft["sources"] = [{**source, **more}]
    return draft


def source_checks(run: Verification) -> list[tuple[str, str | None]]:
    return [(c.outcome.value, c.detail) for c in run.checks if c.kind == "source"]


def test_a_page_and_what_it_embeds(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    """1.50 in the page and 1.5 in the file are one number, so the extraction is equal, not identical."""
    root = make_package(with_page(draft), {"page.html": PAGE})
    sha1 = next(f.git_blob_sha1 for f in _manifest(root).files if f.path == "page.html")
    assert source_checks(verify(root)) == [("equal", None)]
    root = make_package(with_page(draft, git_blob_sha1=sha1), {"page.html": PAGE})
    assert source_checks(verify(root)) == [("identical", None), ("equal", None)]


def test_a_page_that_embeds_other_data_fails(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    run = verify(make_package(with_page(draft), {"page.html": PAGE.replace("2.5", "2.6")}))
    assert run.outcome is RunOutcome.FAILED
    expected = "differs from outputs/trace.json at /1/total: 2.6 in the page, 2.5 in the file"
    assert [("differs", expected)] == source_checks(run)
    assert "a source differs: the page" in run.verdict


def test_a_page_of_another_commit_fails(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    run = verify(make_package(with_page(draft, git_blob_sha1="0" * 40), {"page.html": PAGE}))
    assert run.outcome is RunOutcome.FAILED
    assert source_checks(run)[0] == ("differs", "page.html: has another git blob SHA-1")


def test_a_page_that_is_not_in_the_package_is_only_recorded(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    draft["sources"] = [{"title": "elsewhere", "url": "https://example.org/page"}]
    run = verify(make_package(draft))
    assert run.outcome is RunOutcome.VERIFIED
    expected = "recorded as given; the page is not in the package, so nothing here checks it"
    assert [("not_recomputed", expected)] == source_checks(run)


def test_a_page_made_to_take_hours_is_stopped(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    """Each unclosed comment makes Python's parser look to the end of the page once more."""
    root = make_package(with_page(draft), {"page.html": PAGE + "<!--" * 300_000})
    run = verify(root, limits=ProcessLimits(longest_s=1))
    expected = "page.html: 'script#data': was stopped after its limit of 1 s"
    assert [("timed_out", expected)] == source_checks(run)
    assert run.outcome is RunOutcome.INCOMPLETE
    assert "(timed out)" in run.verdict


def test_a_selector_that_names_nothing(make_package: Make, verify: Verify, draft: dict[str, Any]) -> None:
    run = verify(make_package(with_page(draft, selector="script#other"), {"page.html": PAGE}))
    assert run.outcome is RunOutcome.FAILED
    expected = "page.html: 'script#other' names no element; expected exactly one"
    assert [("not_produced", expected)] == source_checks(run)


# --- builtins, independence, findings ----------------------------------------------------------


def with_builtins(draft: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        draft["analyses"].append(
            {"id": name, "kind": "builtin", "builtin": name, "inputs": {"jobs": "inputs/jobs.csv"}}
        )
        draft["claims"][0]["evidence"].append({"analysis": name, "pointer": "/mean"})
    return draft


def test_a_second_implementation_makes_a_claim_independent(
    analyses: Path, make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    run = verify(make_package(with_builtins(draft, "mean", "mean-again")))
    assert run.outcome is RunOutcome.VERIFIED
    assert [c.implementation for c in claim_checks(run, "mean-steps")] == [
        "query (SQLite)",
        "demo_core.first",
        "demo_core.second",
    ]
    assert run.counts.independent == 1
    assert "1 also by a second implementation" in run.verdict


def test_one_implementation_twice_is_not_independent(
    analyses: Path, make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    draft["claims"][0]["evidence"].append({"analysis": "from-jobs", "pointer": "/rows/0/0"})
    assert verify(make_package(draft)).counts.independent == 0


@pytest.mark.usefixtures("analyses")
@pytest.mark.parametrize(
    ("parameters", "pointer", "outcome"),
    [
        ({"answer": 20}, "/parameters/answer", CheckOutcome.NOT_RECOMPUTED),
        ({"answer": 20, "list": [20]}, "/parameters/list/0", CheckOutcome.NOT_RECOMPUTED),
        ({"answer": 20}, "/parameters/fitted", CheckOutcome.NOT_RECOMPUTED),
        ({"answer": 20}, "/mean", CheckOutcome.IDENTICAL),
        ({}, "/parameters/fitted", CheckOutcome.IDENTICAL),
    ],
)
def test_a_parameter_given_back_recomputes_nothing(
    make_package: Make,
    verify: Verify,
    draft: dict[str, Any],
    parameters: dict[str, Any],
    pointer: str,
    outcome: CheckOutcome,
) -> None:
    draft["analyses"].append(
        {
            "id": "echo",
            "kind": "builtin",
            "builtin": "echoes",
            "inputs": {"jobs": "inputs/jobs.csv"},
            "parameters": parameters,
        }
    )
    draft["claims"][0]["evidence"] = [{"analysis": "echo", "pointer": pointer}]
    run = verify(make_package(draft))
    found = check(run, "mean-steps")
    assert found.outcome is outcome
    assert found.depth is (Depth.RECOMPUTED if outcome.confirms else Depth.HASH)
    assert outcome.confirms or found.detail == (
        "analysis echo: was given this as a parameter, so it recomputes nothing"
    )


def test_a_crash_beside_a_confirmation_is_not_hidden(
    analyses: Path, make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    run = verify(make_package(with_builtins(draft, "breaks")))
    assert run.outcome is RunOutcome.INCOMPLETE
    assert [c.outcome for c in claim_checks(run, "mean-steps")] == [CheckOutcome.EQUAL, CheckOutcome.CRASHED]
    assert run.counts.confirmed == 2


@pytest.mark.parametrize("name", ["nan", "not-a-name"])
def test_a_score_that_is_nan_and_an_analysis_that_is_not_installed(
    analyses: Path, make_package: Make, verify: Verify, draft: dict[str, Any], name: str
) -> None:
    run = verify(make_package(with_builtins(draft, name)))
    assert run.outcome is RunOutcome.INCOMPLETE
    detail = claim_checks(run, "mean-steps")[1].detail or ""
    assert "no finite number" in detail or "no analysis is registered as 'not-a-name'" in detail


def test_a_finding_contradicts_without_changing_the_claim(
    make_package: Make, verify: Verify, draft: dict[str, Any]
) -> None:
    draft["claims"].append(
        {
            "id": "exact",
            "text": "the largest job has 30 steps",
            "value": "30",
            "kind": "finding",
            "relation": {"kind": "contradicts", "claim": "mean-steps", "reason": "a test"},
            "evidence": [{"analysis": "extreme", "pointer": "/rows/0/0"}],
        }
    )
    draft["analyses"].append(
        {
            "id": "extreme",
            "kind": "query",
            "inputs": {"jobs": "inputs/jobs.csv"},
            "sql": "SELECT max(steps) FROM jobs",
        }
    )
    root = make_package(draft)
    run = verify(root)
    assert run.outcome is RunOutcome.VERIFIED
    assert "; 1 of 1 finding confirmed, contradicting 1 published claim." in run.verdict


# --- stored packages ---------------------------------------------------------------------------


@pytest.fixture
def stored(make_package: Make, tmp_path: Path) -> tuple[Path, ObjectStore]:
    """The small package in an object store, its folder gone."""
    root = make_package()
    store = ObjectStore(tmp_path / "objects")
    for file in _manifest(root).files:
        store.put(root / file.path, file.sha256)
    for file in _manifest(root).files:
        (root / file.path).unlink()
    return root, store


def verify_stored(root: Path, store: ObjectStore) -> Verification:
    def resolve(file: File) -> Path:
        return store.path(file.sha256)

    with open_package(root) as package:
        return verify_package(
            package.root,
            package.manifest,
            package.manifest_sha256,
            who="a reader",
            origin="store",
            code_version="test",
            resolve=resolve,
        )


def test_a_stored_package_is_verified_from_its_objects(stored: tuple[Path, ObjectStore]) -> None:
    run = verify_stored(*stored)
    assert (run.outcome, run.origin) == (RunOutcome.VERIFIED, "store")


def test_an_object_changed_or_lost_in_the_store(stored: tuple[Path, ObjectStore]) -> None:
    root, store = stored
    first, second = (store.path(f.sha256) for f in _manifest(root).files)
    first.chmod(0o644)
    first.write_bytes(b"x" + first.read_bytes()[1:])
    second.unlink()
    run = verify_stored(root, store)
    assert run.outcome is RunOutcome.FAILED
    assert [c.outcome for c in run.checks if c.kind == "file"] == [FileState.MISMATCH, FileState.MISSING]
    assert {CheckOutcome.REFUSED} == {c.outcome for c in run.checks if c.kind == "claim"}


def test_progress_is_told(make_package: Make, verify: Verify) -> None:
    told: list[tuple[str, int, int]] = []
    verify(make_package(), progress=lambda what, done, total: told.append((what, done, total)))
    assert [t[0] for t in told] == ["inputs/jobs.csv", "outputs/trace.json", "from-jobs", "from-trace"]
    assert told[1][1] == told[1][2]
    assert told[-1] == ("from-trace", 2, 2)


def test_nothing_is_left_behind(
    make_package: Make, verify: Verify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_package()
    before = sorted(p.relative_to(root) for p in root.rglob("*"))
    private = tmp_path / "tmp"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    verify(root)
    assert list(private.iterdir()) == []
    assert before == sorted(p.relative_to(root) for p in root.rglob("*"))


def test_files_without_rights_are_read_all_the_same_or_named(make_package: Make, verify: Verify) -> None:
    """A read-only package is a package."""
    root = make_package()
    for file in _manifest(root).files:
        (root / file.path).chmod(0o444)
    assert verify(root).outcome is RunOutcome.VERIFIED


def _manifest(root: Path) -> Any:
    with open_package(root) as package:
        return package.manifest
