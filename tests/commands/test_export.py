"""Exports: every row with its status and caveats, the same bytes each time, safe to open."""

import csv
import io
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from artifacts.packages import bundled
from catalog.commands.export import write


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module")
def full_once(make_once: Any, shelf_once: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("full")
    shutil.copytree(shelf_once, folder, dirs_exist_ok=True)
    make_once(folder, f"add {bundled()['tias-record']}")
    make_once(folder, "verify --all", code=4)  # nothing recomputes a screening record
    return folder


@pytest.fixture
def full(run: Any, full_once: Path, tmp_path: Path) -> Path:
    shutil.copytree(full_once, tmp_path, dirs_exist_ok=True)
    return tmp_path / "proofshelf.db"


def test_claims_carry_verdict_and_caveats(run: Any, full: Path, tmp_path: Path) -> None:
    assert run("export", "claims", "--as", "csv", "--to", "claims.csv").exit_code == 0
    rows = rows_of(tmp_path / "claims.csv")
    assert len(rows) == 3 + 19
    mean = rows[0]
    assert (mean["claim"], mean["value"], mean["computed"], mean["outcome"], mean["depth"]) == (
        "mean-celsius", "21.9", "21.875", "within_tolerance", "recomputed",
    )  # fmt: skip
    assert mean["caveats"] == "Two sites in one spring; nothing follows for others."
    assert all(row["caveats"] for row in rows)
    assert {row["outcome"] for row in rows[3:]} == {"not_recomputed"}


@pytest.mark.parametrize(("what", "count"), [("heat", 3), ("heat-numbers", 3), ("tias", 19)])
def test_id_is_a_package_or_a_work(run: Any, full: Path, tmp_path: Path, what: str, count: int) -> None:
    assert run("export", what, "--as", "json", "--to", "x.json").exit_code == 0
    assert len(json.loads((tmp_path / "x.json").read_text())["rows"]) == count


def test_scores_carry_status_gate_and_caveats(run: Any, full: Path, tmp_path: Path) -> None:
    run("export", "scores", "--as", "csv", "--to", "scores.csv")
    rows = rows_of(tmp_path / "scores.csv")
    # Nine categories by two heads, as published; 0.000 keeps its digits.
    assert len(rows) == 18
    assert {(r["status"], r["maturity"], r["calibrated"]) for r in rows} == {
        ("score_only:v0-immature-baseline", "not_passed", "false")
    }
    assert all("never asserts a category" in r["caveats"] for r in rows)
    assert [r["score"] for r in rows if r["category"] == "metaepi_broad"] == ["0.001", "0.000"]


def test_votes_say_that_a_machine_cast_them(run: Any, full: Path, tmp_path: Path) -> None:
    run("export", "votes", "--as", "json", "--to", "votes.json")
    rows = json.loads((tmp_path / "votes.json").read_text())["rows"]
    assert [(r["rater_kind"], r["decision"], r["reason_wording"], r["screen_state"]) for r in rows] == [
        ("model", "out_of_scope", "paraphrased", "agreed_negative")
    ] * 3
    assert all(r["caveats"] for r in rows)


def test_works_and_verifications(run: Any, full: Path, tmp_path: Path) -> None:
    run("export", "works", "--as", "csv", "--to", "works.csv")
    assert [r["work"] for r in rows_of(tmp_path / "works.csv")] == ["heat", "tias"]
    run("export", "verifications", "--as", "json", "--to", "runs.json")
    runs = json.loads((tmp_path / "runs.json").read_text())["rows"]
    assert [r["run"] for r in runs] == [1, 2]
    assert runs[1]["previous"] == runs[0]["hash"]


@pytest.mark.parametrize("what", ["works", "claims", "scores", "votes", "verifications"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_same_bytes_each_time_with_lf(run: Any, full: Path, tmp_path: Path, what: str, form: str) -> None:
    for name in ("one", "two"):
        assert run("export", what, "--as", form, "--to", name).exit_code == 0
    data = (tmp_path / "one").read_bytes()
    assert data == (tmp_path / "two").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert not data.startswith(b"\xef\xbb\xbf")


def test_csv_and_json_say_the_same(run: Any, full: Path, tmp_path: Path) -> None:
    run("export", "claims", "--as", "csv", "--to", "c.csv")
    run("export", "claims", "--as", "json", "--to", "c.json")
    for table, tree in zip(rows_of(tmp_path / "c.csv"), json.loads((tmp_path / "c.json").read_text())["rows"],
                           strict=True):  # fmt: skip
        flat = {
            k: " | ".join(v) if isinstance(v, list) else "" if v is None else str(v) for k, v in tree.items()
        }
        assert table == flat


def test_existing_file_is_kept_without_force(run: Any, full: Path, tmp_path: Path) -> None:
    target = tmp_path / "x.csv"
    target.write_text("mine")
    refused = run("export", "works", "--as", "csv", "--to", "x.csv")
    assert refused.exit_code == 1
    assert "--force" in refused.stderr
    assert target.read_text() == "mine"
    assert run("export", "works", "--as", "csv", "--to", "x.csv", "--force").exit_code == 0
    assert target.read_text() != "mine"


def test_unknown_id_leaves_no_file(run: Any, full: Path, tmp_path: Path) -> None:
    result = run("export", "hete", "--as", "csv", "--to", "x.csv")
    assert result.exit_code == 1
    assert "did you mean" in result.stderr
    assert not [p for p in tmp_path.iterdir() if "x.csv" in p.name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("=1+1", "'=1+1"),
        ("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-x", "'-x"),
        ("\tx", "'\tx"),
        ("-5.24e-10", "-5.24e-10"),
        ("+0.5", "+0.5"),
        ("-1", "-1"),
        ("a=b", "a=b"),
        ("\n=1", "'\n=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a\rb", "a\rb"),
        ("a\r\n=b", "a\r\n=b"),
        ("a\r", "a\r"),
    ],
)
def test_no_cell_is_a_formula_and_no_number_is_touched(tmp_path: Path, text: str, expected: str) -> None:
    write([{"a": text}], "x", "csv", tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as stream:
        assert list(csv.reader(stream)) == [["a"], [expected]]
    assert (tmp_path / "x.csv").read_bytes().endswith(b"\n")
    write([{"a": text}], "x", "json", tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text())["rows"] == [{"a": text}]


@pytest.mark.parametrize(
    ("to", "sentence"),
    [
        ("nowhere/x.csv", "the folder nowhere is not there; make it first"),
        ("pipe", "pipe is no ordinary file, so it isn't replaced"),
    ],
)
def test_where_nothing_can_be_written(run: Any, full: Path, tmp_path: Path, to: str, sentence: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = run("export", "works", "--as", "csv", "--to", to, "--force")
    assert (result.exit_code, result.stderr) == (1, f"proofshelf: {sentence}\n")
    assert (tmp_path / "pipe").is_fifo()


def test_failure_midway_leaves_nothing(tmp_path: Path) -> None:
    def rows() -> Any:
        yield {"a": "1"}
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        write(rows(), "x", "csv", tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


def test_nothing_to_export_is_an_empty_file_with_its_shape(tmp_path: Path) -> None:
    assert write([], "x", "json", tmp_path / "x.json")["rows"] == 0
    assert json.loads((tmp_path / "x.json").read_text()) == {"dataset": "x", "rows": []}
