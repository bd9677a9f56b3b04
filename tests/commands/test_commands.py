"""Each command on a small catalog: what it prints, the same facts as JSON, and its exit code."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from artifacts.packages import bundled
from schema.export import RECORDS

ZEROS = "0" * 64  # the head of a chain without runs


def read(result: Any, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def test_init_creates_once_and_says_so(run: Any, tmp_path: Path) -> None:
    first, second = run("init"), run("init")
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "Created the catalog proofshelf.db" in first.stdout
    assert "already; nothing was changed" in second.stdout
    assert read(run("init", "--json")) == {"database": "proofshelf.db", "created": False}


@pytest.mark.parametrize("line", ["--db a.db init", "init --db a.db", "--db b.db init --db a.db"])
def test_db_stands_before_or_after_the_command(run: Any, tmp_path: Path, line: str) -> None:
    # The option nearest to the command wins; the other file isn't made.
    assert run(*line.split()).exit_code == 0
    assert [p.name for p in tmp_path.glob("*.db")] == ["a.db"]


def test_db_from_the_environment(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROOFSHELF_DB", "env.db")
    assert run("init").exit_code == 0
    assert run("init", "--db", "given.db").exit_code == 0
    assert {p.name for p in tmp_path.glob("*.db")} == {"env.db", "given.db"}


def test_add_says_what_became_of_it(run: Any, make: Any) -> None:
    run("init")
    # Counted by hand in conftest: one file, three claims, no finding.
    added = run("add", make())
    assert "Added heat-numbers, version 1, to the work heat: 3 claims, 1 file." in added.stdout
    assert "Next: proofshelf verify heat-numbers" in added.stdout
    again = run("add", make())
    assert again.exit_code == 0
    assert "already as version 1, unchanged; nothing was done" in again.stdout
    changed = run("add", make(lambda m: m.update(title="Another title")))
    assert "as version 2, beside version 1" in changed.stdout
    facts = read(run("add", make(), "--json"))["packages"][0]
    expected = {"package": "heat-numbers", "version": 1, "versions": [2, 1], "state": "unchanged"}
    expected |= {"files": 1, "claims": 3, "findings": 0, "analyses": 3}
    assert expected.items() <= facts.items()


def test_add_keeps_the_good_beside_a_refused_one(run: Any, make: Any) -> None:
    run("init")
    result = run("add", "nowhere", make(), "--json")
    answer = read(result, code=1)
    assert [p["package"] for p in answer["packages"]] == ["heat-numbers"]
    assert [p["path"] for p in answer["refused"]] == ["nowhere"]
    assert result.stderr.startswith("proofshelf: nowhere:")


def test_verify_prints_each_claim_on_a_line_then_the_verdict(run: Any, shelf: Path) -> None:
    result = run("verify", "heat-numbers")
    assert result.exit_code == 0
    row = next(line for line in result.stdout.splitlines() if "mean-celsius" in line)
    # 21.875 lies 0.025 below 21.9, within half a unit (0.05) of its last digit; runs.csv is an input.
    assert row.split() == ["within", "tolerance", "▮▮▮", "recomputed", "mean-celsius", "21.9", "°C", "21.875",
                           "-0.025", "half", "unit"]  # fmt: skip
    row = next(line for line in result.stdout.splitlines() if "days" in line and "identical" in line)
    assert row.split() == ["identical", "▮▮▮", "recomputed", "days", "4", "4", "0", "exact"]
    assert "1 of 1 file matches." in result.stdout
    assert "Two sites in one spring" in result.stdout  # the caveat, before any number
    assert result.stdout.index("Two sites") < result.stdout.index("mean-celsius")
    assert "3 of 3 published claims confirmed" in result.stdout.splitlines()[-2]


def test_verify_json_has_the_facts_of_the_page(run: Any, shelf: Path) -> None:
    answer = read(run("verify", "heat-numbers", "--json"))
    page = answer["verifications"][0]
    assert answer["outcome"] == "verified"
    assert page["id"] == 1
    assert page["previous"] == ZEROS
    assert page["run"]["who"] == "tester"
    assert [(c["claim"]["id"], c["observed"], c["standing"]["outcome"]) for c in page["claims"]] == [
        ("mean-celsius", "21.875", "within_tolerance"),
        ("days", "4", "identical"),
        ("south-max", "24.25", "identical"),
    ]


def test_verify_work_means_its_packages(run: Any, shelf: Path) -> None:
    answer = read(run("verify", "heat", "--db", shelf, "--json"))
    assert [p["run"]["artifact"] for p in answer["verifications"]] == ["heat-numbers"]


def test_verify_quiet_prints_the_verdict_only(run: Any, shelf: Path) -> None:
    lines = run("verify", "heat-numbers", "-q").stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("Verified: 3 of 3")
    assert "proofshelf show verification 1" in lines[1]


@pytest.mark.parametrize("level", ["hash", "reaggregate"])
def test_verify_of_a_lower_level_computes_nothing_here(run: Any, shelf: Path, level: str) -> None:
    # All three claims come from an input, so only `recompute` reaches them: incomplete, exit 4.
    result = run("verify", "heat-numbers", "--level", level)
    assert result.exit_code == 4
    assert "not recomputed" in result.stdout
    assert "▮▯▯ hash" in result.stdout


def test_verify_all_takes_the_worst_exit_code(run: Any, shelf: Path, make: Any) -> None:
    def rename(to: str, value: str) -> Any:
        def change(m: dict[str, Any]) -> None:
            m.update(id=to, work={"id": f"{to}-work", "title": f"The work of {to}"})
            m["claims"] = [] if not value else [{**m["claims"][1], "value": value}]

        return change

    # One verified, one with nothing to compute (4), one whose count is wrong (3): 3 beats 4 beats 0.
    assert run("verify", "--all").exit_code == 0
    run("add", make(rename("empty", ""), "empty"))
    assert run("verify", "--all").exit_code == 4
    run("add", make(rename("wrong", "5"), "wrong"))
    result = run("verify", "--all")
    assert result.exit_code == 3
    assert "3 packages: 1 verified, 1 failed, 1 incomplete." in result.stdout


def test_verify_folder_needs_no_catalog_and_records_nothing(run: Any, make: Any, tmp_path: Path) -> None:
    make()
    result = run("verify", "heat")
    assert result.exit_code == 0
    assert "Nothing was recorded" in result.stdout
    assert not list(tmp_path.glob("*.db*"))
    answer = read(run("verify", "./heat", "--json"))
    assert (answer["recorded"], answer["outcome"]) == (False, "verified")
    assert answer["claims"][0]["observed"] == "21.875"


def test_folder_and_catalog_agree(run: Any, shelf: Path) -> None:
    # Two ways to the same views: from the stored run, and from a run of the folder.
    stored = read(run("verify", "heat-numbers", "--json"))["verifications"][0]
    folder = read(run("verify", "./heat", "--json"))
    assert stored["claims"] == folder["claims"]
    assert stored["files"] == folder["files"]
    assert stored["manifest"] == folder["manifest"]


def test_folder_of_the_same_name_as_an_id(run: Any, shelf: Path) -> None:
    # `heat` is the work in the catalog and the folder here: the folder, with a note, unless --db is given.
    folder = run("verify", "heat")
    assert "Nothing was recorded" in folder.stdout
    assert "the folder heat is meant" in folder.stderr
    stored = run("verify", "heat", "--db", shelf)
    assert "Run 1" in stored.stdout
    assert "not the folder" in stored.stderr
    assert "Nothing was recorded" in run("verify", "./heat", "--db", shelf).stdout


def test_denied_claim_comes_first_with_all_three_numbers(run: Any, make: Any) -> None:
    # The south's maximum is 24.25; claimed 24.75, exact: the difference is 24.25 - 24.75 = -0.50.
    make(lambda m: m["claims"][2].update(value="24.75"))
    result = run("verify", "heat")
    assert result.exit_code == 3
    rows = result.stdout.split("Claims\n")[1].splitlines()
    assert rows[1].startswith("differs")
    assert rows[2].strip().startswith("expected 24.75, observed 24.25, difference -0.5")
    assert "tolerance exact (the number is a count or a copy, so it must be the same)" in rows[2]
    assert "24.75 claimed, 24.25 computed" in result.stdout.splitlines()[-2]


def test_findings_are_indented_beneath_their_claim_with_the_reason(run: Any, make: Any) -> None:
    def change(m: dict[str, Any]) -> None:
        relation = {"kind": "contradicts", "claim": "mean-celsius", "reason": "The days weigh by site."}
        finding = {"id": "site-mean", "text": "Mean of site means", "value": "22.125", "kind": "finding"}
        m["claims"].append({**finding, "relation": relation, "evidence": m["claims"][0]["evidence"]})

    run("init")
    run("add", make(change))
    printed = run("verify", "heat-numbers").stdout.splitlines()
    at = next(i for i, line in enumerate(printed) if "mean-celsius" in line)
    assert "  finding, contradicts: site-mean" in printed[at + 1]
    page = run("show", "heat-numbers").stdout
    assert "contradicts mean-celsius: The days weigh by site." in page
    finding = read(run("show", "heat-numbers", "--json"))["claims"][0]["findings"][0]
    assert finding["claim"]["relation"]["reason"] == "The days weigh by site."


def test_show_package_before_and_after_a_run(run: Any, shelf: Path) -> None:
    before = run("show", "heat-numbers").stdout
    assert "Never verified: proofshelf verify heat-numbers" in before
    assert "not checked" in before
    run("verify", "heat-numbers")
    after = run("show", "heat-numbers")
    page = read(run("show", "heat-numbers", "--json"))
    assert (
        after.stdout.index("Verified: 3 of 3")
        < after.stdout.index("Two sites")
        < after.stdout.index("21.875")
    )
    assert page["files"][0]["listed"]["sha256"] in after.stdout
    assert page["manifest_sha256"] in after.stdout
    assert "What mean-celsius is" in after.stdout


def test_show_work_without_screening_says_so(run: Any, shelf: Path) -> None:
    text = run("show", "heat").stdout
    assert "No label is not a negative" in text
    assert "No abstract is stored." in text
    assert "heat-numbers" in text


def test_show_verification_can_be_cited(run: Any, shelf: Path) -> None:
    run("verify", "heat-numbers")
    page = read(run("show", "verification", "1", "--json"))
    text = run("show", "verification", "1").stdout
    for fact in (page["hash"], page["previous"], page["run"]["manifest_sha256"], page["run"]["started_at"]):
        assert fact in text


def test_show_an_earlier_version(run: Any, shelf: Path, make: Any) -> None:
    run("add", make(lambda m: m.update(title="Second title")))
    assert run("show", "heat-numbers").stdout.startswith("Second title")
    assert run("show", "heat-numbers", "--version", "1").stdout.startswith("Numbers of the heat paper")


def test_list_kinds(run: Any, shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "lib.bib").write_text("@book{a, title={On heat}, year={2020}}\n\n@book{b, year={2021}}\n")
    run("verify", "heat-numbers")
    run("import", "lib.bib")
    assert {row["slug"] for row in read(run("list", "works", "--json"))["rows"]} >= {"heat"}
    assert read(run("list", "artifacts", "--json"))["rows"][0]["slug"] == "heat-numbers"
    assert read(run("list", "verifications", "--json"))["rows"][0]["outcome"] == "verified"
    # Two records, the second without a title (BibTeX line 3): one added, one rejected.
    imported = read(run("list", "imports", "--json"))["rows"][0]
    assert (imported["read"], imported["added"], imported["rejected"]) == (2, 1, 1)
    rejected = read(run("list", "rejected", "--json"))
    assert (rejected["total"], rejected["rows"][0]["line"]) == (1, 3)
    assert read(run("list", "--json"))["works"] == 2
    for kind in (
        (),
        ("works",),
        ("artifacts",),
        ("verifications",),
        ("imports",),
        ("rejected", "--import", "1"),
    ):
        assert run("list", *kind).exit_code == 0


def test_list_says_what_is_left(run: Any, shelf: Path) -> None:
    for _ in range(3):
        run("verify", "heat-numbers", "-q")
    text = run("list", "verifications", "--limit", "2").stdout
    assert "2 of 3; --offset 2 goes on." in text
    assert [r["id"] for r in read(run("list", "verifications", "--offset", "2", "--json"))["rows"]] == [1]


@pytest.mark.parametrize("kind", ["works", "artifacts", "verifications", "imports", "rejected"])
def test_empty_lists_say_what_to_do(run: Any, kind: str) -> None:
    run("init")
    result = run("list", kind)
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == 1


def test_import_accounts_for_every_record(run: Any, tmp_path: Path) -> None:
    run("init")
    bad = "".join(f"@book{{n{i}, year={{2000}}}}\n" for i in range(12))
    (tmp_path / "lib.bib").write_text("@book{a, title={On heat}, year={2020}}\n" + bad)
    text = run("import", "lib.bib").stdout
    # One good record and twelve without a title: ten are shown with their line, two are counted.
    assert "13 records read: 1 added, 12 rejected. Import 1." in text
    assert text.count("rejected, line ") == 10
    assert "and 2 more: proofshelf list rejected --import 1" in text
    assert read(run("import", "lib.bib", "--json"))["imports"][0]["counts"]["unchanged"] == 1


def test_import_csl(run: Any, tmp_path: Path) -> None:
    run("init")
    (tmp_path / "z.json").write_text('[{"type": "book", "title": "On cold", "id": "x"}]')
    assert "1 added" in run("import", "z.json").stdout


def test_search_finds_and_counts(run: Any, shelf: Path) -> None:
    assert "1 work found." in run("search", "two", "sites").stdout
    assert read(run("search", "heat", "--json"))["works"][0]["slug"] == "heat"
    none = run("search", "zebra")
    assert none.exit_code == 0
    assert "Nothing matches 'zebra'" in none.stdout


@pytest.mark.parametrize("text", ['"', "*", "NEAR(", "a AND", "'; DROP TABLE works", "-", "title:", "()"])
def test_no_punctuation_breaks_search(run: Any, shelf: Path, text: str) -> None:
    assert run("search", "--", text).exit_code == 0


def test_audit_prints_the_head_and_finds_what_it_expects(run: Any, shelf: Path) -> None:
    assert f"head {ZEROS} (no run yet)" in run("audit").stdout
    run("verify", "heat-numbers")
    head = read(run("audit", "--objects", "--json"))
    assert (head["sound"], head["runs"], head["objects"]) == (True, 1, 1)
    run("verify", "heat-numbers")
    later = run("audit", "--expect", head["head"])
    assert later.exit_code == 0
    assert "runs were added since" in later.stdout
    wrong = run("audit", "--expect", "f" * 64)
    assert wrong.exit_code == 3
    assert wrong.stdout.startswith("NOT SOUND")


def test_backup_is_a_catalog_of_its_own(run: Any, shelf: Path, tmp_path: Path) -> None:
    run("verify", "heat-numbers")
    result = run("backup", "copy")
    assert result.exit_code == 0, result.output
    copy = tmp_path / "copy" / shelf.name
    assert run("audit", "--objects", "--db", copy).exit_code == 0
    assert run("verify", "heat-numbers", "--db", copy).exit_code == 0
    assert run("backup", "copy").exit_code == 1  # never over something


def test_rerun_of_a_query_prints_its_table(run: Any, shelf: Path) -> None:
    # max by site, by hand: north 21.0, south 24.25.
    text = run("rerun", "heat", "--analysis", "warmest").stdout
    assert "north  21.0" in text
    assert "south  24.25" in text
    assert "Nothing was recorded" in text
    answer = read(run("rerun", "heat-numbers", "--analysis", "warmest", "--json"))
    assert answer["tables"]["result" if "result" in answer["tables"] else "warmest"]["rows"] == [
        ["north", 21.0],
        ["south", 24.25],
    ]
    assert read(run("list", "--json"))["verifications"] == 0


def test_seal_fills_in_a_draft(run: Any, make: Any, tmp_path: Path) -> None:
    folder = make(lambda m: m.update(files=[{"path": "runs.csv", "role": "input"}]))
    result = run("seal", "heat")
    assert result.exit_code == 0, result.output
    file = json.loads((folder / "manifest.json").read_text())["files"][0]
    # 71 bytes: the length of RUNS, counted by `wc -c`.
    assert file["bytes"] == 71
    assert "sealed already" in run("seal", "heat").stdout
    assert run("verify", "heat").exit_code == 0


def test_schema_lists_and_prints(run: Any) -> None:
    assert [r["name"] for r in read(run("schema", "--json"))["records"]] == list(RECORDS)
    assert read(run("schema", "manifest"))["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    wrong = run("schema", "manifset")
    assert wrong.exit_code == 1
    assert "did you mean 'manifest'?" in wrong.stderr


def test_schema_accepts_the_packages_that_verify(run: Any) -> None:
    # The published schema names every field that a bundled manifest uses at its top.
    properties = read(run("schema", "manifest"))["properties"]
    for folder in bundled().values():
        assert set(json.loads((folder / "manifest.json").read_text())) <= set(properties)


def test_version_and_unknown_command(run: Any) -> None:
    assert run("--version").stdout.startswith("proofshelf, version ")
    wrong = run("verfy")
    assert wrong.exit_code == 2
    assert wrong.stderr == "proofshelf: there is no command 'verfy'; did you mean `verify`?\n"


def test_nothing_is_written_by_reading(run: Any, shelf: Path) -> None:
    run("verify", "heat-numbers")
    before = shelf.read_bytes()
    for line in (
        "list",
        "show heat",
        "show heat-numbers",
        "search heat",
        "audit",
        "rerun heat --analysis mean",
    ):
        assert run(*line.split()).exit_code == 0
    assert shelf.read_bytes() == before
    rows = sqlite3.connect(shelf).execute("SELECT count(*) FROM events").fetchone()[0]
    assert rows == 3  # init, add, verify


class TestTias:
    @pytest.fixture(autouse=True)
    def _catalog(self, run: Any) -> None:
        run("init")
        assert run("add", bundled()["tias-record"]).exit_code == 0

    def test_record_stands_in_the_order_in_which_it_is_read(self, run: Any) -> None:
        text = run("show", "tias").stdout
        order = [
            "TIAS: Two-level", "Bibliographic record", "Abstract", "How this classification was reached",
            "All three models called this out of scope.", "State: agreed negative, 0 of 3 in scope.",
            "[machine]", "[paraphrased]", "The publisher's own statements", "machine_predicted_unvalidated",
            "score_only:v0-immature-baseline",
            "Maturity gate: not passed after 7 training rounds; not calibrated", "Codex  Gemma",
            "metaresearch", "insufficient_payload", "Read with these data", "Packages",
        ]  # fmt: skip
        positions = [text.index(part) for part in order]
        assert positions == sorted(positions)

    def test_machines_are_never_shown_as_people(self, run: Any) -> None:
        text = run("show", "tias").stdout
        assert text.count("[machine]") == 3
        assert "[person]" not in text

    def test_scores_keep_their_published_digits(self, run: Any) -> None:
        # The record page: metaresearch .002 and .004, metaepi_broad .001 and .000.
        lines = [line.split() for line in run("show", "tias").stdout.splitlines()]
        assert ["metaresearch", "0.002", "0.004"] in lines
        assert ["metaepi_broad", "0.001", "0.000"] in lines

    def test_verify_counts_and_confirms_nothing(self, run: Any) -> None:
        result = run("verify", "tias")
        assert result.exit_code == 4
        assert result.stdout.count("saved only") == 19  # 18 scores and one sentence
        page = read(run("show", "tias-record", "--json"))
        assert page["latest_run"]["counts"]["saved"] == 19
        assert page["latest_run"]["counts"]["confirmed"] == 0


def test_a_bundled_package_is_added_by_its_name_unless_a_folder_has_it(run: Any, tmp_path: Path) -> None:
    assert run("init").exit_code == 0
    (facts,) = read(run("add", "tias-record", "--json"))["packages"]
    assert (facts["package"], facts["state"]) == ("tias-record", "added")
    (tmp_path / "tias-record").mkdir()
    refused = run("add", "tias-record")
    assert refused.exit_code == 1
    assert "manifest.json" in refused.stderr
