"""The package screening-metacan against the study's published figures, copied out by hand."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from artifacts.package import open_package
from artifacts.packages import bundled
from artifacts.verdict import claim_standings
from artifacts.verify import verify_package
from schema.states import CheckOutcome, ClaimKind, Depth, RunOutcome, Standing
from schema.verification import Verification

# As the design document prints them; those that the study didn't print are marked as ours.
PUBLISHED = {
    "three-model-any": "274",
    "two-screeners-kappa": "0.68136",
    "two-screeners-raw": "0.966",
    "codex-gemma-metaresearch-jaccard": "0.51569",
    "codex-gemma-any-category-jaccard": "0.70482",
    "frame-n1000": "3706040",
    "frame-n5600": "4255410",
    "weight-aff-core": "1119.0475",
    "weight-about-only": "664.248",
    "weight-venue-new": "536.849",
    "weight-french": "310.893",
    "weight-fund-new": "335.78",
    "weight-aff-about": "822.28",
    "weight-residual": "1102.29",
    "gate-verdict": "not_passed",
    "gate-average-precision": "false",
    "gate-churn": "false",
    "gate-spearman": "false",
    "quota-codex": "25957",
    "quota-gemma": "73642",
    "calls-metaresearch": str(74_482 + 25_116),
}
OURS = {
    "three-model-two": "53",
    "three-model-fleiss": "0.6718",
    "two-screeners-ac1": "0.96181",
    "two-screeners-pabak": "0.93178",
    "codex-gemma-metaresearch-kappa": "0.6316",
    "codex-gemma-metaresearch-ac1": "0.8895",
    "codex-gemma-metaresearch-pabak": "0.8299",
    "codex-gemma-any-category-kappa": "0.7607",
    "codex-gemma-any-category-ac1": "0.8399",
    "identity-metaresearch": "99599",
} | {
    f"prevalence-{model}{part}": value
    for model, values in {
        "opus": ("0.03541", "0.00592", "0.0255", "0.0490"),
        "gpt": ("0.02512", "0.00494", "0.0171", "0.0369"),
        "grok": ("0.01895", "0.00424", "0.0122", "0.0293"),
    }.items()
    for part, value in zip(("", "-se", "-low", "-high"), values, strict=True)
}
SAVED = {
    "three-model-rate-opus": "3.81",
    "three-model-rate-gpt": "2.92",
    "three-model-rate-grok": "2.54",
    "active-ap-1": "0.0143",
    "random-ap-1": "0.0238",
    "active-ap-20": "0.1391",
    "random-ap-20": "0.0502",
}
# One computation each: errors and intervals need functions that not every SQLite has.
ONCE = {"gate-average-precision", "gate-churn", "gate-spearman"} | {
    f"prevalence-{m}-{part}" for m in ("opus", "gpt", "grok") for part in ("se", "low", "high")
}


@pytest.fixture(scope="module")
def folder() -> Path:
    return bundled()["screening-metacan"]


@pytest.fixture(scope="module")
def manifest(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def run(folder: Path) -> tuple[Verification, dict[str, Standing]]:
    with open_package(folder) as package:
        made = verify_package(
            package.root, package.manifest, package.manifest_sha256,
            level="recompute", who="a test", origin="folder", code_version="test", git_commit=None,
        )  # fmt: skip
        return made, claim_standings(made.checks, package.manifest)


def test_claims_are_the_published_figures_to_the_digit(manifest: dict[str, Any]) -> None:
    stated = {c["id"]: c["value"] for c in manifest["claims"]}
    assert stated == PUBLISHED | OURS | SAVED
    kinds = {c["id"]: ClaimKind(c["kind"]) for c in manifest["claims"]}
    assert {name for name, kind in kinds.items() if kind is ClaimKind.FINDING} == set(OURS)


def test_every_figure_that_can_be_computed_comes_out(run: tuple[Verification, dict[str, Standing]]) -> None:
    made, standings = run
    assert made.outcome is RunOutcome.VERIFIED
    for name in PUBLISHED | OURS:
        assert standings[name].outcome.confirms, name
        assert standings[name].depth is Depth.RECOMPUTED
        assert (standings[name].independent is Depth.RECOMPUTED) == (name not in ONCE), name
    for name in SAVED:
        assert standings[name].outcome is CheckOutcome.NOT_RECOMPUTED
        assert standings[name].depth is Depth.SAVED


def test_the_identity_contradicts_the_published_calls(manifest: dict[str, Any]) -> None:
    by_id = {c["id"]: c for c in manifest["claims"]}
    relation = by_id["identity-metaresearch"]["relation"]
    assert (relation["kind"], relation["claim"]) == ("contradicts", "calls-metaresearch")
    assert 25_957 + 73_642 == 99_599 == int(by_id["calls-metaresearch"]["value"]) + 1


def test_counts_agree_among_themselves() -> None:
    """Models' totals, any, all and one are all printed; they leave one number of works with two."""
    assert 274 - 104 - 117 == (224 + 163 + 148 - 117 - 3 * 104) / 2 == 53


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_positives_by_stratum_are_those_of_the_published_votes(folder: Path, shared: Path) -> None:
    counted: Counter[tuple[str, str]] = Counter()
    for vote in rows(shared / "data/metacan/dossier_n1000.csv"):
        for model in ("opus", "gpt", "grok"):
            counted[vote["stratum"], model] += vote[model] in ("T1", "T2")
    stated = {(r["stratum"], r["rater"]): int(r["positive"]) for r in rows(folder / "inputs/positives.csv")}
    assert stated == counted


def test_rounds_are_the_published_ones(folder: Path, shared: Path) -> None:
    published = rows(shared / "data/metacan/loop_rounds.csv")
    columns = ("round", "holdout_ap", "holdout_churn", "rank_spearman_vs_prev")
    assert [tuple(r[c] for c in columns) for r in published] == [
        tuple(r.values()) for r in rows(folder / "inputs/rounds.csv")
    ]
