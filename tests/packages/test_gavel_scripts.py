"""validate.py and analysis.py as a reader with nothing but Python runs them."""

import ast
import csv
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.extract import extract
from artifacts.packages.rebuild import name_source_page
from artifacts.seal import seal

Change = Callable[[Path], None]


def run(folder: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A script of a package in a Python that sees the standard library only."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(folder / script), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder.parent,
    )


def snapshot(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_the_committed_package_validates_and_stays_as_it_is(gavel: Path) -> None:
    before = snapshot(gavel)
    result = run(gavel, "validate.py")
    assert result.stdout.splitlines()[-1] == "All five checks passed."
    assert [line.split()[:2] for line in result.stdout.splitlines()[:-1]] == [
        ["ok", name] for name in ("files", "source", "numbers", "figures", "notebook")
    ]
    assert result.returncode == 0
    assert before == snapshot(gavel)


def test_validate_takes_a_folder(gavel: Path, tmp_path: Path) -> None:
    script = shutil.copy(gavel / "validate.py", tmp_path)
    assert run(tmp_path, Path(script).name, str(gavel)).returncode == 0
    missing = run(tmp_path, Path(script).name, str(tmp_path / "nothing"))
    assert missing.returncode == 1
    assert "manifest" in missing.stdout


def test_what_python_and_file_managers_leave_behind_is_no_file_of_the_package(copy: Path) -> None:
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__/analysis.cpython-311.pyc").touch()
    (copy / "outputs/.DS_Store").touch()
    assert run(copy, "validate.py").returncode == 0


def test_a_wrong_option_is_a_usage_error(gavel: Path) -> None:
    assert run(gavel, "validate.py", "--everything").returncode == 2


def test_analysis_makes_the_committed_tables_and_figures_byte_for_byte(gavel: Path, tmp_path: Path) -> None:
    result = run(gavel, "analysis.py", "--to", str(tmp_path))
    assert result.returncode == 0, result.stderr
    made = snapshot(tmp_path)
    assert set(result.stdout.splitlines()) == set(made)
    committed = snapshot(gavel)
    assert {name: committed[name] for name in made} == made
    saved = {
        n for n in committed if n.startswith(("outputs/", "figures/")) and not n.startswith("outputs/gavel-")
    }
    assert saved == set(made)


def test_analysis_answers_for_any_interval_and_job(gavel: Path) -> None:
    result = run(gavel, "analysis.py", "--start-step", "25", "--end-step", "28", "--job-id", "6")
    assert "steps 25 to 28" in result.stdout
    assert "     4     4.837413     4.837413     4.837413" in result.stdout


def test_a_job_before_its_arrival_has_not_arrived(gavel: Path) -> None:
    result = run(gavel, "analysis.py", "--start-step", "1", "--end-step", "48")
    assert result.stdout.count("0  not arrived") == 2


@pytest.mark.parametrize("arguments", [("--job-id", "18"), ("--start-step", "0"), ("--end-step", "73")])
def test_analysis_refuses_what_is_outside_the_trace(gavel: Path, arguments: tuple[str, str]) -> None:
    result = run(gavel, "analysis.py", *arguments)
    assert result.returncode == 2
    assert "expected 1 <= start-step" in result.stderr


@pytest.mark.parametrize("script", ["validate.py", "analysis.py"])
def test_scripts_import_the_standard_library_only(gavel: Path, script: str) -> None:
    assert imported((gavel / script).read_text(encoding="utf-8")) <= sys.stdlib_module_names


def test_the_notebook_imports_the_standard_library_only(gavel: Path) -> None:
    notebook = json.loads((gavel / "notebook/gavel-allocation.ipynb").read_text(encoding="utf-8"))
    code = "\n".join("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code")
    assert imported(code) <= sys.stdlib_module_names


def imported(code: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add((node.module or "").split(".")[0])
    return names


def test_the_page_embeds_the_saved_trace_byte_for_byte(gavel: Path) -> None:
    page = (gavel / "source/gavel-trace.html").read_bytes()
    text = extract(page, "script#gavel-data", "source/gavel-trace.html")
    assert text.encode("utf-8") == (gavel / "outputs/gavel-trace.json").read_bytes()


def test_git_gives_every_file_the_recorded_name(gavel: Path, manifest: dict[str, Any]) -> None:
    paths = [file["path"] for file in manifest["files"]]
    names = subprocess.run(
        ["git", "hash-object", "--no-filters", *paths], cwd=gavel, capture_output=True, text=True, check=True
    ).stdout.split()
    assert names == [file["git_blob_sha1"] for file in manifest["files"]]
    page = next(source for source in manifest["sources"] if "file" in source)
    assert page["git_blob_sha1"] == dict(zip(paths, names, strict=True))[page["file"]]


def test_no_point_of_a_figure_is_interpolated(gavel: Path) -> None:
    with (gavel / "outputs/totals-by-step.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    known = {(int(r["step"]), float(r[f"published_{p}"])) for r in rows for p in ("aware", "agnostic")}
    titles = re.findall(
        r"<title>Step (\d+), [^:]+: (\S+)</title>", (gavel / "figures/totals.svg").read_text()
    )
    assert len(titles) == 144
    assert known == {(int(step), float(value)) for step, value in titles}
    held = re.findall(r'<path d="([^"]+)"', (gavel / "figures/totals.svg").read_text())
    assert all(re.fullmatch(r"(M\S+ \S+H\S+ ?)+", path) for path in held)


def test_the_vega_lite_chart_draws_held_levels_and_gives_exact_values(gavel: Path) -> None:
    spec = json.loads((gavel / "figures/totals.vl.json").read_text(encoding="utf-8"))
    values = spec["data"]["values"]
    assert len(values) == 2 * 2 * 72
    assert {(v["policy"], v["mode"]) for v in values} == {
        (policy, mode)
        for policy in ("throughput-aware", "performance-agnostic")
        for mode in ("published", "exact")
    }
    assert all(repr(v["total"]) == v["value"] for v in values)
    line, point = spec["layer"]
    assert line["mark"]["interpolate"] == "step-after"
    assert {"field": "value", "type": "nominal", "title": "total"} in point["encoding"]["tooltip"]
    assert "url" not in spec["data"]


def test_the_notebook_is_executed_and_free_of_time_and_place(gavel: Path) -> None:
    data = (gavel / "notebook/gavel-allocation.ipynb").read_text(encoding="utf-8")
    notebook = json.loads(data)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [1, 2, 3, 4, 5, 6]
    assert [cell["id"] for cell in code] == ["read", "aggregate", "baseline", "draw", "query", "weights"]
    assert all(cell["metadata"] == {} for cell in notebook["cells"])
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert " at 0x" not in data
    assert "/home" not in data
    assert "20.331%" in data


# Damage


def replace(path: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / path).read_text(encoding="utf-8")
        assert old in text, f"{old!r} is not in {path}"
        (folder / path).write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")

    return change


def flip_a_byte(path: str) -> Change:
    def change(folder: Path) -> None:
        data = bytearray((folder / path).read_bytes())
        data[len(data) // 2] ^= 1
        (folder / path).write_bytes(data)

    return change


def record(change_one: Callable[[list[dict[str, Any]]], None], name: str = "gavel-trace.json") -> Change:
    def change(folder: Path) -> None:
        path = folder / "outputs" / name
        rows = json.loads(path.read_text(encoding="utf-8"))
        change_one(rows)
        path.write_text(
            "[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n", encoding="utf-8", newline="\n"
        )

    return change


def sealed(*changes: Change) -> Change:
    """The changes, and a manifest that was made to agree with them."""

    def change(folder: Path) -> None:
        for one in changes:
            one(folder)
        name_source_page(folder)
        seal(folder)

    return change


def drawn_elsewhere(folder: Path) -> None:
    """An analysis.py that draws one point where its title doesn't say, and the figures that it makes."""
    point = "mark(policy, hollow, x(step), y(value), label)"
    replace("analysis.py", point, point.replace("y(value)", "y(value + (step == 7))"))(folder)
    assert run(folder, "analysis.py").returncode == 0


def reorder_cells(folder: Path) -> None:
    path = folder / "notebook/gavel-allocation.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    notebook["cells"][2]["execution_count"] = 9
    path.write_text(json.dumps(notebook, indent=1), encoding="utf-8")


def drop_claim(folder: Path) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["claims"] = [c for c in manifest["claims"] if c["id"] != "timesteps"]
    path.write_text(json.dumps(manifest), encoding="utf-8")


TRACE = "outputs/gavel-trace.json"
NOTEBOOK = "notebook/gavel-allocation.ipynb"
FIRST = '"job_id": 0, "score": 1.7196013284703424'

DAMAGE: dict[str, tuple[Change, str]] = {
    # Bytes that the manifest doesn't know.
    "byte-of-the-readme": (flip_a_byte("README.md"), "README.md: its SHA-256"),
    "byte-of-an-input": (flip_a_byte("inputs/throughputs.csv"), "inputs/throughputs.csv: its SHA-256"),
    "byte-of-the-licence": (flip_a_byte("LICENSE.txt"), "LICENSE.txt: its SHA-256"),
    "byte-of-a-figure": (flip_a_byte("figures/totals.svg"), "figures/totals.svg: its SHA-256"),
    "byte-of-the-notebook": (flip_a_byte(NOTEBOOK), f"{NOTEBOOK}: its SHA-256"),
    "byte-of-the-trace": (flip_a_byte(TRACE), f"{TRACE}: its SHA-256"),
    "byte-of-the-page": (flip_a_byte("source/gavel-trace.html"), "source/gavel-trace.html: its SHA-256"),
    "byte-more": (lambda f: (f / "LICENSE.txt").open("ab").write(b"\n") and None, "LICENSE.txt: has "),
    "file-missing": (lambda f: (f / "outputs/job.csv").unlink(), "outputs/job.csv: is listed and missing"),
    "file-too-many": (lambda f: (f / "extra.txt").touch(), "extra.txt: is there and not listed"),
    # A manifest that was made to agree.
    "number-in-the-trace": (
        sealed(replace(TRACE, FIRST, FIRST[:-1] + "5")),
        "what script#gavel-data embeds is not outputs/gavel-trace.json",
    ),
    "number-in-the-trace-against-its-hash": (
        sealed(replace(TRACE, FIRST, FIRST[:-1] + "5")),
        "outputs/gavel-trace.json: gavel-source.json records another SHA-256",
    ),
    "embedded-number": (
        sealed(replace("source/gavel-trace.html", FIRST, FIRST[:-1] + "5")),
        "source/gavel-trace.html: what script#gavel-data embeds",
    ),
    "embedded-twice": (
        sealed(replace("source/gavel-trace.html", "</body>", '<script id="gavel-data">[]</script></body>')),
        "source/gavel-trace.html: holds 2 elements",
    ),
    "embedded-under-another-name": (
        sealed(replace("source/gavel-trace.html", 'id="gavel-data"', 'id="data"')),
        "source/gavel-trace.html: holds 0 elements",
    ),
    "record-twice": (
        sealed(record(lambda rows: rows.append(rows[5]))),
        f"{TRACE}: policy aware has a step and job",
    ),
    "record-lost": (sealed(record(lambda rows: rows.pop(7))), f"{TRACE}: policy aware lacks"),
    "score-negative": (
        sealed(record(lambda rows: rows[3].update(score=-0.5))),
        "step 4, job 0: the score is neg",
    ),
    "score-not-finite": (
        sealed(record(lambda rows: rows[3].update(score=float("nan")))),
        "step 4, job 0: not a finite",
    ),
    "policy-lost": (
        sealed(
            record(lambda rows: rows.__setitem__(slice(None), [r for r in rows if r["policy"] == "aware"]))
        ),
        f"{TRACE}: expected the policies",
    ),
    "field-more": (
        sealed(record(lambda rows: rows[0].update(note=1))),
        f"{TRACE}: a record has other fields",
    ),
    "exact-total": (
        sealed(record(lambda rows: rows[9].update(score=rows[9]["score"] + 1e-6), "gavel-exact.json")),
        "outputs/gavel-exact-summary.json: saves",
    ),
    "saved-mean": (
        sealed(replace("outputs/gavel-weight-summary.json", '"mean": 7.75082', '"mean": 7.75083')),
        "outputs/gavel-weight-summary.json: ",
    ),
    "recorded-hash": (
        sealed(replace("outputs/gavel-source.json", '"sha256": "', '"sha256": "0')),
        "gavel-trace.json: gavel-source.json records another SHA-256",
    ),
    "table": (
        sealed(replace("outputs/totals-by-jobs.csv", "7,5.0663", "7,5.0664")),
        "outputs/totals-by-jobs.csv: analysis.py makes another",
    ),
    "trace-table": (
        sealed(replace("outputs/trace.csv", "aware,1,0,1.7196", "aware,1,0,1.7197")),
        "outputs/trace.csv: analysis.py makes another",
    ),
    "point-moved": (
        sealed(replace("figures/totals.svg", 'r="2.4"', 'r="2.4" transform="translate(0 9)"')),
        "figures/totals.svg: analysis.py makes another",
    ),
    "point-renamed": (
        sealed(replace("figures/job.svg", "<title>Step 49, ", "<title>Step 50, ")),
        "figures/job.svg: analysis.py makes another",
    ),
    "point-drawn-elsewhere": (
        sealed(drawn_elsewhere),
        "figures/totals.svg: the point for 3.040628487273446 is drawn at",
    ),
    "chart-value": (
        sealed(replace("figures/totals.vl.json", '"total": 1.71960', '"total": 1.71961')),
        "figures/totals.vl.json: analysis.py makes another",
    ),
    "cell-output": (
        sealed(replace(NOTEBOOK, "20.331%", "20.332%")),
        f"{NOTEBOOK}: cell 3 gives another output",
    ),
    "cell-drawing": (
        sealed(replace(NOTEBOOK, "<circle cx=", "<circle  cx=")),
        f"{NOTEBOOK}: cell 4 gives another",
    ),
    "cell-code": (
        sealed(replace(NOTEBOOK, "START_STEP, END_STEP, JOB_ID = 49", "START_STEP, END_STEP, JOB_ID = 50")),
        f"{NOTEBOOK}: cell 5 gives another output",
    ),
    "cell-that-fails": (
        sealed(replace(NOTEBOOK, "assert 1 <= START_STEP", "assert 99 <= START_STEP")),
        f"{NOTEBOOK}: cell 5 ends with AssertionError",
    ),
    "cell-order": (sealed(reorder_cells), f"{NOTEBOOK}: cell 1 was not executed in order"),
    "claim-changed": (
        replace("manifest.json", '"value": "20.331"', '"value": "20.333"'),
        "claim aware-above-agnostic: states 20.333, the saved outputs give 20.3312",
    ),
    "claim-changed-in-the-ninth-digit": (
        replace("manifest.json", '"value": "7.750821276"', '"value": "7.750821286"'),
        "claim weights-1-2-3-aware-mean: states 7.750821286",
    ),
    "finding-changed": (
        replace("manifest.json", '"value": "8.093958401602"', '"value": "8.093958411602"'),
        "claim exact-1-2-3-aware-mean: states 8.093958411602",
    ),
    "claim-turned": (
        replace("manifest.json", '"value": "true"', '"value": "false"'),
        "claim check-unique-pairs: True",
    ),
    "claim-dropped": (drop_claim, "the claim timesteps is missing"),
    "manifest-broken": (replace("manifest.json", "{", "["), "WRONG manifest"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_validate_names_what_was_damaged(copy: Path, name: str) -> None:
    change, culprit = DAMAGE[name]
    change(copy)
    result = run(copy, "validate.py")
    assert culprit in result.stdout, result.stdout + result.stderr
    assert result.returncode == 1
