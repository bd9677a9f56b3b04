"""The claims of gavel-allocation against the published figures, copied out by hand."""

import csv
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from schema.artifact import Manifest

Claims = dict[str, dict[str, Any]]

# As the notebook page prints them, section by section.
PUBLISHED = {
    "hashes-verified": "2",
    "saved-values": "1368",
    "check-unique-pairs": "true",
    "check-all-arrivals": "true",
    "check-both-policies": "true",
    "check-finite-non-negative": "true",
    "check-aware-mean": "0",
    "check-agnostic-mean": "0",
    "baseline-aware-steps": "72",
    "baseline-aware-mean": "7.750821",
    "baseline-aware-min": "1.719601",
    "baseline-aware-max": "10.459325",
    "baseline-agnostic-steps": "72",
    "baseline-agnostic-mean": "6.441240",
    "baseline-agnostic-min": "1.000000",
    "baseline-agnostic-max": "9.000000",
    "aware-above-agnostic": "20.331",
    "agnostic-below-aware": "16.896",
    "interval-aware-steps": "24",
    "interval-aware-mean": "9.876224",
    "interval-aware-min": "9.096838",
    "interval-aware-max": "10.459325",
    "interval-agnostic-steps": "24",
    "interval-agnostic-mean": "8.728238",
    "interval-agnostic-min": "7.856588",
    "interval-agnostic-max": "9.000000",
    "job-12-aware-steps": "24",
    "job-12-aware-mean": "1.130766",
    "job-12-aware-min": "0.581074",
    "job-12-aware-max": "1.527814",
    "job-12-agnostic-steps": "24",
    "job-12-agnostic-mean": "0.888889",
    "job-12-agnostic-min": "0.500000",
    "job-12-agnostic-max": "1.000000",
    "weights-1-2-3-aware-mean": "7.750821276",
    "weights-1-1-1-aware-mean": "7.921449236",
    "weights-change-aware": "2.201",
    "weights-1-2-3-agnostic-mean": "6.441239771",
    "weights-1-1-1-agnostic-mean": "6.601999472",
    "weights-change-agnostic": "2.496",
    "records-aware": "684",
    "records-agnostic": "684",
    "trace-records": "1368",
    "timesteps": "72",
    "jobs": "18",
    "first-job-id": "0",
    "last-job-id": "17",
}

# The exact optimum of the stated policy: what it is, what it speaks of, and how.
FINDINGS = {
    "exact-1-2-3-aware-mean": ("8.093958401602", "contradicts", "weights-1-2-3-aware-mean"),
    "exact-1-2-3-agnostic-mean": ("7", "contradicts", "weights-1-2-3-agnostic-mean"),
    "exact-aware-above-agnostic": ("15.628", "contradicts", "aware-above-agnostic"),
    "exact-agnostic-below-aware": ("13.516", "contradicts", "agnostic-below-aware"),
    "exact-1-1-1-aware-mean": ("8.200473671745", "contradicts", "weights-1-1-1-aware-mean"),
    "exact-1-1-1-agnostic-mean": ("7", "contradicts", "weights-1-1-1-agnostic-mean"),
    "exact-change-aware": ("1.316", "contradicts", "weights-change-aware"),
    "exact-change-agnostic": ("0", "contradicts", "weights-change-agnostic"),
    "exact-interval-aware-mean": ("9.967862044", "contradicts", "interval-aware-mean"),
    "exact-interval-aware-min": ("9.358392737", "contradicts", "interval-aware-min"),
    "exact-interval-aware-max": ("10.459325022", "extends", "interval-aware-max"),
    "exact-interval-agnostic-mean": ("9", "contradicts", "interval-agnostic-mean"),
    "exact-interval-agnostic-min": ("9", "contradicts", "interval-agnostic-min"),
    "exact-interval-agnostic-max": ("9", "extends", "interval-agnostic-max"),
    "exact-job-12-aware-mean": ("1.130766", "extends", "job-12-aware-mean"),
    "exact-job-12-aware-min": ("0.581074", "extends", "job-12-aware-min"),
    "exact-job-12-aware-max": ("1.527814", "extends", "job-12-aware-max"),
    "exact-job-12-agnostic-mean": ("0.888889", "extends", "job-12-agnostic-mean"),
    "exact-job-12-agnostic-min": ("0.5", "extends", "job-12-agnostic-min"),
    "exact-job-12-agnostic-max": ("1", "extends", "job-12-agnostic-max"),
    "seven-jobs-agnostic-exact": ("7", "extends", "weights-1-2-3-agnostic-mean"),
    "seven-jobs-agnostic-published": ("4.837413", "extends", "weights-1-2-3-agnostic-mean"),
}

# Number of jobs: published aware | exact aware | published agnostic | exact agnostic, weights 1:2:3.
TOTALS_BY_JOBS = """\
1|1.719601|1.719601|1|1
2|3.040628|3.040628|2|2
3|4.389560|4.389560|3|3
4|5.862877|5.862877|4|4
5|6.839183|7.554323|4.716948|5
6|8.143234|8.261044|5.710461|6
7|5.066397|8.039092|4.837413|7
8|7.086958|8.761165|5.773775|8
9|9.264969|9.411758|6.811373|9
10|9.247673|9.247673|7.901887|9
11|9.887467|9.887467|8.821032|9
12|9.708890|9.708890|9|9
13|9.096838|9.646665|7.856588|9
14|9.815131|9.815131|8.512839|9
15|9.358393|9.358393|9|9
16|10.139053|10.139053|9|9
17|10.388606|10.388606|9|9
18|10.459325|10.459325|9|9"""


def test_every_number_of_the_page_is_a_claim_as_printed(claims: Claims) -> None:
    published = {name: c["value"] for name, c in claims.items() if c["kind"] == "published"}
    assert published == PUBLISHED
    assert len(published) == 47


def test_percentages_say_so(claims: Claims) -> None:
    percent = {name for name, claim in claims.items() if claim.get("unit") == "%"}
    assert percent == {
        "aware-above-agnostic",
        "agnostic-below-aware",
        "weights-change-aware",
        "weights-change-agnostic",
        "exact-aware-above-agnostic",
        "exact-agnostic-below-aware",
        "exact-change-aware",
        "exact-change-agnostic",
    }


@pytest.mark.parametrize("name", FINDINGS)
def test_a_finding_has_the_known_figure_and_speaks_of_the_right_claim(claims: Claims, name: str) -> None:
    figure, kind, target = FINDINGS[name]
    claim = claims[name]
    places = Decimal(figure).as_tuple().exponent
    assert Decimal(figure) == round(Decimal(claim["value"]), -int(places))
    assert (kind, target) == (claim["relation"]["kind"], claim["relation"]["claim"])


def test_there_is_no_other_finding(claims: Claims) -> None:
    assert set(FINDINGS) == {name for name, claim in claims.items() if claim["kind"] == "finding"}


def test_a_finding_contradicts_exactly_where_it_lies_outside_the_published_tolerance(claims: Claims) -> None:
    for name, (_, kind, target) in FINDINGS.items():
        if name.startswith("seven-jobs"):
            continue
        digits = -int(Decimal(claims[target]["value"]).as_tuple().exponent)
        apart = round(Decimal(claims[name]["value"]), digits) != Decimal(claims[target]["value"])
        assert (kind == "contradicts") == apart, name


def test_a_reason_is_two_sentences_about_the_stated_policy_and_blames_nobody(claims: Claims) -> None:
    for name in FINDINGS:
        reason = claims[name]["relation"]["reason"]
        sentences = [s for s in reason.removesuffix(".").split(". ") if s]
        assert len(sentences) == 2, name
        assert not {"error", "mistake", "wrong", "bug"} & set(reason.lower().replace(".", "").split()), name


def test_every_claim_says_what_where_whose_and_how_close(claims: Claims) -> None:
    for name, claim in claims.items():
        assert claim["text"], name
        assert claim["basis"], name
        assert claim["tolerance"]["reason"], name
        assert claim["evidence"], name
        assert ("locator" in claim) == (claim["kind"] == "published"), name
        if claim["kind"] == "published":
            assert claim["locator"].startswith(("Section ", "Source trail")), name


@pytest.mark.parametrize(
    ("prefix", "tolerance"),
    [
        ("weights-1-2-3-", ("relative", "1e-9")),
        ("weights-1-1-1-", ("relative", "1e-9")),
        ("exact-1-2-3-", ("relative", "1e-10")),
        ("exact-1-1-1-", ("relative", "1e-10")),
        ("exact-interval-", ("relative", "1e-10")),
        ("exact-job-12-", ("relative", "1e-10")),
        ("check-aware-mean", ("absolute", "1e-10")),
        ("check-agnostic-mean", ("absolute", "1e-10")),
        ("weights-change-", ("half_unit", None)),
        ("records-", ("exact", None)),
    ],
)
def test_tolerances_follow_one_rule_for_each_kind_of_number(
    claims: Claims, prefix: str, tolerance: tuple[str, str | None]
) -> None:
    chosen = [c["tolerance"] for name, c in claims.items() if name.startswith(prefix)]
    assert chosen
    assert {(t["kind"], t.get("value")) for t in chosen} == {tolerance}


def test_numbers_printed_to_six_decimals_are_taken_to_half_a_unit(claims: Claims) -> None:
    for name, claim in claims.items():
        if name.startswith(("baseline-", "interval-", "job-12-")):
            expected = "exact" if name.endswith("-steps") else "half_unit"
            assert expected == claim["tolerance"]["kind"], name


def test_one_scenario_had_only_saved_means_on_the_page(claims: Claims) -> None:
    for policy in ("aware", "agnostic"):
        assert "only the saved mean" in claims[f"weights-1-1-1-{policy}-mean"]["basis"]


def test_the_two_hashes_are_ours_and_say_so(claims: Claims) -> None:
    assert "never the article's" in claims["hashes-verified"]["basis"]


def test_the_caveats_travel_with_the_package(manifest: dict[str, Any]) -> None:
    said = " ".join(manifest["caveats"])
    assert len(manifest["caveats"]) == 5
    for words in (
        "allocation-only numerical simulation from measured throughput tables",
        "No GPU was used for training, and no round-based scheduler",
        "normalised progress, not tokens per second or GPU utilisation",
        "One job sequence and one set of weights",
        "No general ranking of policies or of fairness",
    ):
        assert words in said


def test_the_articles_provenance_is_recorded_and_never_ours(manifest: dict[str, Any]) -> None:
    article = next(s for s in manifest["sources"] if s.get("commit"))
    assert article["commit"] == "9df3f608a3e7b2e95312504f9d1cbf22e190091f"
    assert article["path"] == "source/gavel-trace.html"
    assert article["git_blob_sha1"] == "572f09dc5a6399e5f80254791f0acbc1744798ba"
    assert "file" not in article
    hashes = {f["git_blob_sha1"] for f in manifest["files"]}
    assert article["git_blob_sha1"] not in hashes
    ours = next(s for s in manifest["sources"] if "file" in s)
    assert "not the article's" in ours["note"]


def test_throughputs_name_their_source_and_licence(gavel: Path, manifest: dict[str, Any]) -> None:
    file = next(f for f in manifest["files"] if f["path"] == "inputs/throughputs.csv")
    assert file["licence"] == "MIT"
    assert file["source"] == "stanford-futuredata/gavel at c4fa400, scheduler/simulation_throughputs.json"
    licence = (gavel / "LICENSE.txt").read_text(encoding="utf-8")
    assert "Copyright (c) 2020 Stanford Future Data Systems" in licence


def test_totals_by_number_of_jobs_are_the_known_ones(gavel: Path) -> None:
    with (gavel / "outputs/totals-by-jobs.csv").open(encoding="utf-8", newline="") as file:
        rows = [list(row.values()) for row in csv.DictReader(file)]
    known = [line.split("|") for line in TOTALS_BY_JOBS.splitlines()]
    assert len(known) == len(rows) == 18
    for row, figures in zip(rows, known, strict=True):
        assert [float(f) for f in figures] == pytest.approx([float(v) for v in row], abs=5.1e-7)


def test_the_manifest_is_valid_and_lists_the_work(manifest: dict[str, Any]) -> None:
    record = Manifest.model_validate_json(json.dumps(manifest))
    assert record.id == "gavel-allocation"
    assert record.work.id == "gavel"
    assert record.work.year == 2020
    assert [a.name.split()[-1] for a in record.work.authors] == [
        "Narayanan",
        "Santhanam",
        "Kazhamiaka",
        "Phanishayee",
        "Zaharia",
    ]
    assert record.work.abstract.text is None
    assert record.work.abstract.note
