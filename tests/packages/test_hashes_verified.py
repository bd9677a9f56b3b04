"""The count of verified hashes: of the files given, not of what the record says."""

import json
from pathlib import Path

import pytest

from scheduling_core.allocation.analysis import trace_aggregation
from scheduling_core.errors import SchedulingError


def inputs(folder: Path) -> dict[str, Path]:
    names = {"trace": "gavel-trace", "summary": "gavel-weight-summary", "source": "gavel-source"}
    return {name: folder / f"outputs/{file}.json" for name, file in names.items()}


def test_both_recorded_hashes_are_those_of_the_files(gavel: Path) -> None:
    assert trace_aggregation(inputs(gavel), {})["outputs"]["hashes_verified"] == 2


def test_a_changed_file_is_not_counted(copy: Path) -> None:
    with (copy / "outputs/gavel-weight-summary.json").open("ab") as file:
        file.write(b"\n")
    assert trace_aggregation(inputs(copy), {})["outputs"]["hashes_verified"] == 1


def test_without_a_record_nothing_is_said_of_hashes(gavel: Path) -> None:
    assert "hashes_verified" not in trace_aggregation({"trace": inputs(gavel)["trace"]}, {})["outputs"]


def test_a_hash_of_a_file_that_was_not_given_is_an_error(gavel: Path) -> None:
    given = {name: path for name, path in inputs(gavel).items() if name != "summary"}
    with pytest.raises(SchedulingError, match="records a hash of 'summary', expected an input of that name"):
        trace_aggregation(given, {})


@pytest.mark.parametrize("record", ["[]", "{", json.dumps({"files": [{"name": "a"}]})])
def test_a_record_without_hashes_is_an_error(copy: Path, record: str) -> None:
    (copy / "outputs/gavel-source.json").write_text(record, encoding="utf-8")
    with pytest.raises(SchedulingError, match=r"gavel-source.json records no hashes, expected 'files'"):
        trace_aggregation(inputs(copy), {})
