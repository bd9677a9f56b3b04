"""Rebuilding the bundled package: the same numbers anywhere, the same bytes on one machine."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from artifacts.packages.rebuild import rebuild

WRITTEN_BY_HAND = {
    "README.md",
    "LICENSE.txt",
    "analysis.py",
    "validate.py",
    "inputs/throughputs.csv",
    "inputs/jobs.csv",
    "inputs/cluster.csv",
    "inputs/weights.csv",
}
TEXTS = {"published", "exact", "aware", "agnostic"}


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def rebuilt(gavel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package made again where only the files written by hand, and the notebook's cells, were left."""
    folder = Path(shutil.copytree(gavel, tmp_path_factory.mktemp("rebuild") / "gavel-allocation"))
    for part in ("outputs", "figures", "source"):
        shutil.rmtree(folder / part)
    notebook = folder / "notebook/gavel-allocation.ipynb"
    cells = json.loads(notebook.read_text(encoding="utf-8"))
    for cell in cells["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    notebook.write_text(json.dumps(cells), encoding="utf-8")
    rebuild(folder)
    return folder


def test_the_same_files_come_out(gavel: Path, rebuilt: Path) -> None:
    committed, made = contents(gavel), contents(rebuilt)
    assert committed.keys() == made.keys()
    assert {name: made[name] for name in WRITTEN_BY_HAND} == {
        name: committed[name] for name in WRITTEN_BY_HAND
    }


def test_the_manifest_differs_in_sizes_and_hashes_only(manifest: dict[str, Any], rebuilt: Path) -> None:
    made = json.loads((rebuilt / "manifest.json").read_text(encoding="utf-8"))
    assert [f["path"] for f in made["files"]] == [f["path"] for f in manifest["files"]]
    assert {k: v for k, v in made.items() if k not in ("files", "sources")} == {
        k: v for k, v in manifest.items() if k not in ("files", "sources")
    }


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        ("gavel-trace.json", 1e-6),
        ("gavel-trace-1-1-1.json", 1e-6),
        ("gavel-exact.json", 1e-9),
        ("gavel-weight-summary.json", 1e-8),
        ("gavel-exact-summary.json", 1e-9),
    ],
)
def test_saved_outputs_hold_the_same_numbers(gavel: Path, rebuilt: Path, name: str, tolerance: float) -> None:
    """Single scores of the published mode depend on where a solver stops more than their means do."""
    committed, made = (
        json.loads((f / "outputs" / name).read_text(encoding="utf-8")) for f in (gavel, rebuilt)
    )
    number = "score" if "score" in committed[0] else "mean"
    assert [{**r, number: None} for r in committed] == [{**r, number: None} for r in made]
    assert [r[number] for r in committed] == pytest.approx([r[number] for r in made], rel=tolerance)


@pytest.mark.parametrize(
    "name",
    ["baseline", "comparison", "interval", "job", "weights", "totals-by-step", "totals-by-jobs", "trace"],
)
def test_tables_hold_the_same_numbers(gavel: Path, rebuilt: Path, name: str) -> None:
    committed, made = (rows(folder / f"outputs/{name}.csv") for folder in (gavel, rebuilt))
    assert [row[0] for row in committed] == [row[0] for row in made]
    for (_, expected), (_, actual) in zip(committed, made, strict=True):
        assert expected == pytest.approx(actual, rel=1e-6, abs=1e-9)


def rows(path: Path) -> list[tuple[list[str], list[float]]]:
    """Each row of a table as its texts and its numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            ([v for v in row if v in TEXTS], [float(v) for v in row if v not in TEXTS])
            for row in list(csv.reader(file))[1:]
        ]


def test_a_second_rebuild_gives_the_same_bytes(rebuilt: Path) -> None:
    before = contents(rebuilt)
    rebuild(rebuilt)
    assert before == contents(rebuilt)
