"""A small catalog with every state that a page can show, made through `catalog.store`.

Packages are real folders; runs are written by hand, so that each outcome is there without a
computation that really crashes.
"""

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from catalog import store
from schema.artifact import Manifest
from schema.states import CheckOutcome, Depth, FileState, RunOutcome
from schema.verification import Check, Counts, Environment, Verification

TITLE = "Heterogeneity-Aware Cluster Scheduling Policies for Deep Learning Workloads"
HOSTILE = '<script>alert("title")</script> & "quotes"'
CAVEAT = (
    "An allocation-only numerical simulation from measured throughput tables; no GPU training and no "
    "round-based scheduler was run."
)
LIST_CAVEAT = "One job sequence and one set of weights; no general ranking of policies follows."
CLAIM_CAVEAT = "Scores are normalised progress, not tokens per second."
WHY = (
    "The published value reproduces. An exact computation of the stated policy gives more, because the "
    "public code caps every later filling step at a constant and stops with capacity unused."
)
SOLVER = "solver tolerance 1e-8 on a non-unique optimum"
SERIES = [(1, "1.719601"), (2, "3.0406281234567"), (3, "4.389560"), (4, "5.862877"), (5, "6.839183")]
FIRST = "2026-11-02T09:00:00Z"


def gavel(folder: Path, title: str = "Gavel allocation trace") -> Path:
    """A package with claims, findings, a chart with its picture, and a page that it must not run."""
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Totals by step",
        "description": "Nothing is interpolated.",
        "usermeta": {"embedOptions": {"actions": True, "ast": False}},
        "width": "container",
        "height": 240,
        "data": {"values": [{"step": s, "total": float(v), "value": v} for s, v in SERIES]},
        "mark": {"type": "point", "filled": True},
        "encoding": {
            "x": {"field": "step", "type": "quantitative"},
            "y": {"field": "total", "type": "quantitative"},
            "color": {"value": "#0f58a8"},
            "tooltip": [
                {"field": "step", "type": "nominal"},
                {"field": "value", "type": "nominal", "title": "total"},
            ],
        },
    }
    contents = {
        "inputs/throughputs.csv": "step,total\n" + "".join(f"{s},{v}\n" for s, v in SERIES),
        "figures/totals.vl.json": json.dumps(spec),
        "figures/totals.svg": '<svg xmlns="http://www.w3.org/2000/svg"><circle r="3"/></svg>',
        "figures/other.svg": '<svg xmlns="http://www.w3.org/2000/svg"/>',
        "outputs/a name with spaces & ünïcode.csv": "x\n1\n",
        "source/page.html": "<script>alert('page')</script>",
    }
    exact = {"kind": "exact"}
    near = {"kind": "relative", "value": "1e-9", "reason": SOLVER}
    tight = {
        "kind": "relative",
        "value": "1e-10",
        "reason": "exact bottlenecks; another machine drifts by 1e-11",
    }
    half = {"kind": "half_unit", "reason": "the page prints six decimals"}

    def claim(
        name: str, text: str, value: str, allowed: Any, evidence: int = 1, **more: Any
    ) -> dict[str, Any]:
        found = [{"analysis": a, "pointer": f"/{name}"} for a in ("trace", "trace-again")[:evidence]]
        return {"id": name, "text": text, "value": value, "tolerance": allowed, "evidence": found, **more}

    manifest = {
        "manifest_version": 1,
        "id": "gavel",
        "title": title,
        "description": "The water filling of the paper, recomputed from its measured throughputs.",
        "work": {
            "id": "gavel-osdi20",
            "title": TITLE,
            "authors": [{"name": "Deepak Narayanan"}, {"name": "Keshav Santhanam"}],
            "year": 2020,
            "venue": "OSDI",
            "type": "article",
            "language": "en",
            "identifiers": [{"scheme": "url", "value": "javascript:alert(1)"}],
            "retraction": "Invented for this example: withdrawn <b>and</b> restored.",
        },
        "licence": "Apache-2.0",
        "created": FIRST,
        "creators": ["The founders"],
        "caveats": [CAVEAT, LIST_CAVEAT],
        "sources": [
            {
                "title": "The article's page",
                "url": "javascript:alert(2)",
                "commit": "9df3f608a3e7b2e95312504f9d1cbf22e190091f",
                "path": "source/gavel-trace.html",
                "git_blob_sha1": "572f09dc5a6399e5f80254791f0acbc1744798ba",
                "note": "Recorded as saved; the page isn't public.",
            },
            {"title": "Throughputs", "url": "https://github.com/stanford-futuredata/gavel"},
        ],
        "analyses": [
            {
                "id": "trace",
                "kind": "query",
                "sql": "SELECT avg(total) FROM t",
                "inputs": {"t": "inputs/throughputs.csv"},
            },
            {
                "id": "trace-again",
                "kind": "query",
                "sql": "SELECT 1",
                "inputs": {"t": "inputs/throughputs.csv"},
            },
        ],
        "claims": [
            claim(
                "mean-aware",
                "Throughput-aware mean, weights 1:2:3",
                "7.750821276",
                near,
                caveats=[CAVEAT, CLAIM_CAVEAT],
                locator="baseline table, first row",
                basis="the page's saved trace",
            ),
            claim(
                "exact-aware",
                "Exact optimum of the stated policy",
                "8.093958401602",
                tight,
                evidence=2,
                kind="finding",
                relation={"kind": "contradicts", "claim": "mean-aware", "reason": WHY},
                caveats=[CLAIM_CAVEAT],
            ),
            claim("records", "Active job records in all", "1368", exact, evidence=2, unit="records"),
            claim(
                "best", "“Best trade-off” of miss rate and completion time", "true", exact, 0, type="boolean"
            ),
            claim("moved", "A number that moved", "0.987752", half),
            claim("crashed", HOSTILE, "3", exact),
            claim("slow", "A computation that took too long", "4", exact),
            claim("left", "Left out by the level of the run", "5.5", half),
            claim("gone", "A value that the analysis doesn't give", "6", exact),
            claim("written", "The same value, written otherwise", "1.000000", exact),
        ],
    }
    return _write(folder, manifest, contents)


def gavel_run(manifest: Manifest, manifest_sha256: str, minute: int = 0, sound: bool = False) -> Verification:
    """A run of `gavel`: with every outcome, or with only what is confirmed."""
    seen: dict[str, tuple[CheckOutcome, str | None, Depth]] = {
        "mean-aware": (CheckOutcome.WITHIN_TOLERANCE, "7.750821275476", Depth.RECOMPUTED),
        "exact-aware": (CheckOutcome.IDENTICAL, "8.093958401602", Depth.RECOMPUTED),
        "records": (CheckOutcome.IDENTICAL, "1368", Depth.RECOMPUTED),
        "moved": (CheckOutcome.DIFFERS, "0.987761", Depth.REAGGREGATED),
        "crashed": (CheckOutcome.CRASHED, None, Depth.SAVED),
        "slow": (CheckOutcome.TIMED_OUT, None, Depth.SAVED),
        "left": (CheckOutcome.NOT_RECOMPUTED, None, Depth.SAVED),
        "gone": (CheckOutcome.NOT_PRODUCED, None, Depth.SAVED),
        "written": (CheckOutcome.EQUAL, "1", Depth.REAGGREGATED),
    }
    details = {"crashed": "The analysis ended with an error: <img src=x>.", "slow": "Stopped after 60 s."}
    checks = []
    for claim in manifest.claims:
        if claim.id not in seen:
            continue
        outcome, observed, depth = seen[claim.id]
        for number, evidence in enumerate(claim.evidence):
            second = number == 1
            checks.append(
                Check(
                    kind="claim",
                    subject=claim.id,
                    analysis=evidence.analysis,
                    pointer=evidence.pointer,
                    expected=claim.value,
                    observed=observed,
                    difference=None if observed is None else str(Decimal(observed) - Decimal(claim.value)),
                    outcome=outcome,
                    depth=Depth.REAGGREGATED if second and claim.id == "records" else depth,
                    implementation="scheduling_core.crosscheck" if second else "scheduling_core",
                    detail=details.get(claim.id),
                )
            )
    if sound:
        checks = [c for c in checks if isinstance(c.outcome, CheckOutcome) and c.outcome.confirms]
    files = [_file_check(file.path, file.sha256, sound) for file in manifest.files]
    if not sound:
        files.append(Check(kind="file", subject="stray.txt", observed="f" * 64, outcome=FileState.UNLISTED))
    confirmed = sum(1 for c in checks if CheckOutcome(c.outcome).confirms) - sum(
        1 for c in checks if c.analysis == "trace-again"
    )
    return Verification(
        artifact=manifest.id,
        work=manifest.work.id or "",
        manifest_sha256=manifest_sha256,
        origin="store",
        level="recompute",
        outcome=RunOutcome.VERIFIED if sound else RunOutcome.FAILED,
        depth=Depth.REAGGREGATED if sound else Depth.SAVED,
        verdict=(
            "Verified: 3 of 9 published claims confirmed, and 1 finding of ours beside them."
            if sound
            else "Failed: 2 claims are denied by what was computed, and 2 of 7 files don't match."
        ),
        counts=Counts(
            files=len(files),
            files_matching=sum(1 for c in files if c.outcome is FileState.MATCH),
            claims=10,
            confirmed=confirmed,
            denied=0 if sound else 2,
            could_not_run=0 if sound else 2,
            not_recomputed=5 if sound else 1,
            saved=1,
            findings=1,
            findings_confirmed=1,
            independent=2,
        ),
        started_at=f"2026-11-29T14:{minute:02}:00Z",
        finished_at=f"2026-11-29T14:{minute:02}:07.250000Z",
        who="ada",
        code_version="0.1.0",
        git_commit="1" * 40,
        seeds={},
        environment=Environment(
            python="3.11.7", platform="Linux", machine="x86_64", sqlite="3.46.0", packages={"numpy": "2.0"}
        ),
        checks=tuple(checks + files),
    )


def _file_check(path: str, sha256: str, sound: bool) -> Check:
    changed = path == "source/page.html" and not sound
    return Check(
        kind="file",
        subject=path,
        expected=sha256,
        observed="e" * 64 if changed else sha256,
        outcome=FileState.MISMATCH if changed else FileState.MATCH,
        depth=Depth.SAVED if changed else Depth.HASH,
        detail="differs only in line endings" if changed else None,
    )


def hostile(folder: Path) -> Path:
    """A package with a chart that asks for other machines, scripts and links."""
    elsewhere = "http://example.invalid"
    drawn = {
        "data": {"values": [{"x": 1, "link": "javascript:window.hurt = 1", "image": f"{elsewhere}/a.png"}]},
        "usermeta": {"embedOptions": {"actions": True, "ast": False, "patch": f"{elsewhere}/patch.json"}},
        "config": {"font": f"url({elsewhere}/font)"},
        "layer": [
            {
                "mark": "point",
                "encoding": {"x": {"field": "x", "type": "quantitative"}, "href": {"field": "link"}},
            },
            {
                "mark": {"type": "image", "width": 9, "height": 9},
                "encoding": {"x": {"field": "x", "type": "quantitative"}, "url": {"field": "image"}},
            },
            {"data": {"url": f"{elsewhere}/data.csv"}, "mark": "bar"},
            {"transform": [{"calculate": "window.hurt = 1", "as": "y"}], "mark": "point"},
        ],
    }
    manifest = {
        "manifest_version": 1,
        "id": "hostile",
        "title": HOSTILE,
        "work": {"id": "hostile-work", "title": HOSTILE},
        "licence": "none",
    }
    return _write(folder, manifest, {"figures/x.vl.json": json.dumps(drawn), "figures/y.vl.json": "[1]"})


CATEGORIES = (
    "metaresearch",
    "metaepi_narrow",
    "metaepi_broad",
    "bibliometrics",
    "sts",
    "scholarly_communication",
    "open_science",
    "research_integrity",
    "insufficient_payload",
)
SCORES = {
    "Codex": ("0.002", "0.001", "0.001", "0.001", "0.001", "0.001", "0.004", "0.001", "0.003"),
    "Gemma": ("0.004", "0.001", "0.000", "0.001", "0.001", "0.001", "0.002", "0.001", "0.001"),
}
STATUS = "score_only:v0-immature-baseline"
SCREENING_CAVEATS = (
    "Teacher imitation: not calibrated prevalence, not ground truth. Human validation pending.",
    "A score ranks and never asserts. No label is not a negative.",
)
ABSTRACT_NOTE = "The screening record holds the abstract; it isn't copied here."


def tias(folder: Path) -> Path:
    """A screened work: three model votes, a publisher's statement, 9 x 2 scores, nothing recomputable."""
    reasons = (
        "A systems contribution, not a study of research.",
        "Studies GPU scheduling, not research as a practice.",
        "A systems paper on cluster scheduling.",
    )
    record = {
        "rounds": [
            {
                "id": "screen",
                "study": "MétaCan",
                "title": "The three-model screen",
                "instrument": "unknown",
                "categories": list(CATEGORIES),
                "panel": 3,
                "works_screened": 5600,
                "frame_size": 4255410,
                "source": "choxos/MetaCan",
                "licence": "CC BY 4.0",
            },
            {
                "id": "people",
                "study": "Example",
                "title": "Two people and a model",
                "instrument": "title+abstract",
                "categories": list(CATEGORIES),
                "panel": 3,
                "source": "invented for the tests",
            },
        ],
        "raters": [
            {"id": f"model-{n}", "kind": "model", "name": f"rater {n}, not named on the page"}
            for n in (1, 2, 3)
        ]
        + [{"id": f"person-{name.lower()}", "kind": "human", "name": name} for name in ("Ada", "Ben")],
        "votes": [
            {
                "id": f"vote-{n}",
                "round": "screen",
                "work": "tias",
                "rater": f"model-{n}",
                "decision": "out_of_scope",
                "confidence": "high" if n == 1 else None,
                "reason": reason,
                "reason_wording": "paraphrased",
            }
            for n, reason in enumerate(reasons, start=1)
        ]
        + [
            _vote("ada-1", "person-ada", "out_of_scope", reason="Read too fast.", reason_wording="verbatim"),
            _vote("ada-2", "person-ada", "in_scope", categories=["open_science"], supersedes="ada-1"),
            _vote("ben-1", "person-ben", "in_scope", categories=["metaresearch", "sts"], confidence="low"),
            _vote("model-1-again", "model-1", "out_of_scope"),
        ],
        "statements": [
            {
                "id": "full-frame",
                "work": "tias",
                "publisher": "MétaCan",
                "about": "Full-frame machine prediction",
                "text": "Machine predicted; a candidate call from one source, not a consensus.",
                "wording": "verbatim",
                "status": "machine_predicted_unvalidated",
                "source": "the record page",
            }
        ],
        "releases": [
            {
                "id": "student-v0",
                "title": "Distilled student, two heads",
                "status": STATUS,
                "maturity": "not_passed",
                "training_rounds": 7,
                "decimals": 3,
                "heads": [{"name": h, "imitates": h, "categories": list(CATEGORIES)} for h in SCORES],
                "source": "choxos/MetaCan, record page",
            }
        ],
        "scores": [
            {"work": "tias", "release": "student-v0", "head": h, "category": c, "value": v}
            for h, values in SCORES.items()
            for c, v in zip(CATEGORIES, values, strict=True)
        ],
        "caveats": list(SCREENING_CAVEATS),
    }
    manifest = {
        "manifest_version": 1,
        "id": "tias-record",
        "title": "TIAS screening record",
        "work": {
            "id": "tias",
            "title": "TIAS: Two-level Information-Agnostic Job Scheduling in GPU Clusters",
            "year": 2022,
            "type": "article",
            "language": "en",
            "abstract": {"note": ABSTRACT_NOTE},
            "identifiers": [{"scheme": "doi", "value": "10.1000/tias(2022)"}],
        },
        "licence": "CC-BY-4.0",
        "screening": "screening.json",
        "claims": [{"id": "best", "text": "Best trade-off", "value": "true", "type": "boolean"}],
    }
    return _write(folder, manifest, {"screening.json": json.dumps(record)})


def _vote(name: str, rater: str, decision: str, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "round": "people",
        "work": "gavel-osdi20",
        "rater": rater,
        "decision": decision,
        **more,
    }


def _write(folder: Path, manifest: dict[str, Any], contents: dict[str, str]) -> Path:
    roles = {"inputs": "input", "outputs": "output", "figures": "figure", "source": "source"}
    manifest["files"] = []
    for path, text in contents.items():
        data = text.encode("utf-8")
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        manifest["files"].append(
            {
                "path": path,
                "role": roles.get(path.partition("/")[0], "input"),
                "bytes": len(data),
                "sha256": hashlib.sha256(data).hexdigest(),
            }
        )
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def build(folder: Path) -> Path:
    """The whole example: two versions of one package with runs, one screened work. Returns the database."""
    path = folder / "example.db"
    with store.create(path, who="ada") as catalog:
        for number, title in ((1, "Gavel allocation trace, first try"), (2, "Gavel allocation trace")):
            catalog.add_package(gavel(folder / f"gavel-{number}", title), who="ada")
            record_gavel(catalog, minute=number, sound=number == 1)
        for minute in range(3, 9):
            record_gavel(catalog, minute=minute, sound=minute % 2 == 0)
        record_gavel(catalog, minute=9)
        catalog.add_package(tias(folder / "tias"), who="ada")
    return path


def record_gavel(catalog: store.Catalog, minute: int, sound: bool = False) -> int:
    """One run of the newest version of `gavel`."""
    artifact_id = catalog.artifact_id("gavel")
    assert artifact_id is not None
    content, sha256 = catalog.connection.execute(
        "SELECT content, sha256 FROM manifests "
        "WHERE sha256 = (SELECT manifest_sha256 FROM artifacts WHERE id = ?)",
        [artifact_id],
    ).fetchone()
    run = gavel_run(Manifest.model_validate_json(content), sha256, minute, sound)
    return catalog.record_verification(artifact_id, run)[0]
