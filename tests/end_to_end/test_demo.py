"""`proofshelf demo`: every package and the made-up study, both verdicts, twice."""

import json
import shutil
from pathlib import Path
from typing import Any


def test_demo_gives_both_verdicts_and_says_how_to_go_on(proofshelf: Any, demo: Path, tmp_path: Path) -> None:
    # Gavel's numbers are recomputed; a screening record has nothing to compute, and says so.
    text = (demo / "printed").read_text(encoding="utf-8")
    shutil.copytree(demo / "shelf", tmp_path / "shelf")
    assert "Verified: " in text
    assert "Incomplete: " in text
    assert "none is confirmed and none is denied" in text
    assert "proofshelf --db shelf/proofshelf.db browse" in text
    again = json.loads(proofshelf("demo --dir shelf --json").stdout)
    assert again["created"] is False
    assert again["as_expected"] is True
    assert [(p["package"], p["state"], p["run"]["outcome"]) for p in again["packages"]] == [
        ("gavel-allocation", "unchanged", "verified"),
        ("screening-metacan", "unchanged", "verified"),
        ("tias-record", "unchanged", "incomplete"),
        ("tias-like-tradeoff", "unchanged", "verified"),
    ]
    study = again["study"]
    assert (study["release"], study["run"]["outcome"]) == ("synthetic-r1", "verified")
    assert study["status"] == "score_only:v0-immature-baseline"
    # The first round of a study can't have passed a gate that asks for six.
    assert json.loads(proofshelf("--db shelf/proofshelf.db screen status synthetic --json").stdout)
    # A made-up study's scores are of made-up works only: no real paper's page has one.
    assert "synthetic" not in proofshelf("--db shelf/proofshelf.db show tias").stdout.lower()
    assert json.loads(proofshelf("--db shelf/proofshelf.db show tias --json").stdout)["decisions"] == []
    assert "SOUND  10 verifications" in proofshelf("--db shelf/proofshelf.db audit").stdout


def test_demo_touches_no_other_catalog_and_rerun_answers_the_page_s_queries(
    proofshelf: Any, demo: Path, tmp_path: Path
) -> None:
    assert (demo / "other.db").read_bytes() == (demo / "other.as-it-was").read_bytes()
    shutil.copytree(demo / "shelf", tmp_path / "d")
    # The page: job 12 in steps 49-72, aware: mean 1.130766, min 0.581074; agnostic: 0.888889, 0.500000.
    ask = "--db d/proofshelf.db rerun gavel-allocation"
    text = proofshelf(f"{ask} --param START_STEP=49 --param JOB_ID=12 --table job").stdout
    rows = [line.split() for line in text.splitlines() if line.startswith("  published")]
    assert [(r[1], r[3], r[4][:8], r[5][:7]) for r in rows] == [
        ("aware", "24", "1.130766", "0.58107"),
        ("agnostic", "24", "0.888888", "0.49999"),
    ]
    # Job 12 arrives at step 49: before that it isn't there, and that is no zero.
    early = proofshelf(f"{ask} --param START_STEP=1 --param END_STEP=48 --param JOB_ID=12 --table job").stdout
    rows = [line for line in early.splitlines() if line.startswith("  published")]
    assert all("not arrived" in row and "0.0" not in row for row in rows)
    assert json.loads(proofshelf("--db d/proofshelf.db list --json").stdout)["verifications"] == 5
