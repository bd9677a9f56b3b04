"""The analyses as a package calls them: parameters, tables, charts, and their error sentences."""

import csv
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scheduling_core.allocation.analysis import allocation, trace_aggregation
from scheduling_core.allocation.trace import Record, Trace
from scheduling_core.errors import SchedulingError


@pytest.fixture
def saved(result: dict[str, Any], tmp_path: Path) -> dict[str, Path]:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(result["tables"]["trace"]), encoding="utf-8")
    return {"trace": path}


def test_results_are_plain_json(result: dict[str, Any]) -> None:
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_a_saved_trace_aggregates_to_the_same_numbers(result: dict[str, Any], saved: dict[str, Path]) -> None:
    """The trace table holds full-precision floats, so nothing may be lost on the way."""
    again = trace_aggregation(saved, {}, 0)["outputs"]
    expected = dict(result["outputs"]["published"]["baseline"])
    del expected["weights"]
    assert again["baseline"] == expected
    assert again["checks"] == result["outputs"]["checks"]


@pytest.mark.parametrize("form", ["csv", "objects"])
def test_saved_traces_have_other_forms(
    result: dict[str, Any], saved: dict[str, Path], tmp_path: Path, form: str
) -> None:
    table = result["tables"]["trace"]
    if form == "csv":
        path = tmp_path / "trace.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([table["columns"], *table["rows"]])
    else:
        path = tmp_path / "objects.json"
        objects = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        path.write_text(json.dumps(objects))
    assert trace_aggregation({"trace": path}, {}, 0) == trace_aggregation(saved, {}, 0)


def test_another_interval_and_job_from_a_command_line(
    files: Mapping[str, Path], outputs: dict[str, Any]
) -> None:
    """Job 12 arrives at step 49: before it, its state is 'not arrived' and not a mean of 0."""
    parameters = {"START_STEP": "1", "END_STEP": "48", "JOB_ID": "12", "MODES": "exact"}
    found = allocation(files, parameters, 0)["outputs"]
    assert "published" not in found
    aware = found["exact"]["baseline"]["aware"]
    assert aware["job"] == {
        "state": "not arrived",
        "steps": 0,
        "mean": None,
        "min": None,
        "max": None,
    }
    whole = outputs["exact"]["baseline"]["aware"]
    assert aware["all"] == whole["all"]
    assert 48 * aware["interval"]["mean"] + 24 * whole["interval"]["mean"] == pytest.approx(
        72 * whole["all"]["mean"]
    )


def test_tables(result: dict[str, Any]) -> None:
    tables = result["tables"]
    assert {name: len(table["rows"]) for name, table in tables.items()} == {
        "trace": 1368,
        "totals": 2 * 2 * 72,
        "baseline": 4,
        "interval": 4,
        "job": 4,
        "weights": 4,
        "totals_by_jobs": 2 * 2 * 2 * 18,
    }
    for table in tables.values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}
    trace = Trace.of(Record(*row) for row in tables["trace"]["rows"])
    totals = [r[3] for r in tables["totals"]["rows"] if r[1:3] == ["aware", "published"]]
    assert totals == list(trace.totals("aware"))


def test_the_chart_shows_every_step_and_interpolates_nothing(result: dict[str, Any]) -> None:
    chart = result["charts"]["totals"]
    assert len(chart["data"]["values"]) == 288
    assert chart["mark"]["interpolate"] == "step-after"
    value = chart["data"]["values"][0]
    assert float(value["exact value"]) == value["total"]
    assert "exact value" in [tip["field"] for tip in chart["encoding"]["tooltip"]]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"FIRST": 1}, "There is no parameter 'FIRST', expected one of START_STEP, END_STEP, JOB_"),
        ({"START_STEP": "soon"}, "START_STEP is 'soon', expected a whole number."),
        ({"START_STEP": 1.5}, "START_STEP is 1.5, expected a whole number."),
        ({"START_STEP": True}, "START_STEP is True, expected a whole number."),
        ({"START_STEP": 0}, "START_STEP is 0, expected a step of the trace, 1 to 72."),
        ({"END_STEP": 73}, "END_STEP is 73, expected a step of the trace, 1 to 72."),
        ({"START_STEP": 60, "END_STEP": 50}, "START_STEP is 60, expected at most END_STEP, which"),
        ({"STEPS": 0}, "STEPS is 0, expected a number from 1 to 1000000."),
        ({"JOB_ID": 18, "MODES": "exact"}, "There is no job 18, expected one of 0 to 17."),
        ({"BASELINE": "3:2:1"}, "There is no weight scenario '3:2:1', expected one of '1:2:3', '1"),
        ({"BASELINE": 3}, "BASELINE is 3, expected a text"),
        ({"MODES": "quick"}, "MODES holds 'quick', expected some of exact, published, first."),
        ({"MODES": []}, "MODES is [], expected names separated by commas."),
    ],
)
def test_refused_parameters(files: Mapping[str, Path], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchedulingError) as error:
        allocation(files, parameters, 0)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("jobs", "A3C", "A4C", "jobs.csv, line 3: job type 'A4C' has no throughputs."),
        ("jobs", "workers", "width", "jobs.csv has no column 'workers', expected job_id, job_type"),
        ("jobs", "1,A3C,5", "1,A3C,5.5", "jobs.csv, line 3: column 'arrival_step' is '5.5', not a"),
        (
            "jobs",
            "1,A3C,5,0",
            "1,A3C,5,9",
            "jobs.csv, line 3: entity '9' has no weight in scenario",
        ),
        (
            "cluster",
            "k80,3",
            "k80,many",
            "cluster.csv, line 2: column 'count' is 'many', not a num",
        ),
        ("cluster", "k80,3", "k80,", "cluster.csv, line 2: column 'count' is empty or missing."),
        ("throughputs", "3.4387678290723933", "nan", "rates holds NaN or infinity"),
        (
            "weights",
            "1:2:3,0,1",
            "1:2:3,0,-1",
            "entity_weights[0] is -1.0, expected a number above",
        ),
    ],
)
def test_refused_inputs(
    files: Mapping[str, Path], tmp_path: Path, name: str, old: str, new: str, sentence: str
) -> None:
    text = files[name].read_text(encoding="utf-8")
    assert old in text
    changed = tmp_path / f"{name}.csv"
    changed.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SchedulingError) as error:
        allocation({**files, name: changed}, {}, 0)
    assert sentence in str(error.value)


def test_missing_and_unreadable_inputs(files: Mapping[str, Path], tmp_path: Path) -> None:
    with pytest.raises(SchedulingError, match="The input 'cluster' is missing, expected a file"):
        allocation({}, {}, 0)
    with pytest.raises(SchedulingError, match=r"none\.csv can't be read"):
        allocation({**files, "jobs": tmp_path / "none.csv"}, {}, 0)
    empty = tmp_path / "jobs.csv"
    empty.write_text("job_id,job_type,arrival_step,entity,user_weight,workers\n")
    with pytest.raises(SchedulingError, match=r"jobs\.csv holds no rows, expected at least one"):
        allocation({**files, "jobs": empty}, {}, 0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "trace.json can't be read as JSON"),
        ("{}", "trace.json is no trace, expected an object of 'columns' and 'rows' or a list"),
        ("[]", "The trace holds no records"),
        ('[{"policy": "aware", "step": 1, "job_id": 0}]', "record 1: column 'score' is empty"),
        (
            '[{"policy": "aware", "step": 1, "job_id": 0, "score": NaN}]',
            "The score of job 0 at step 1 (aware) is nan, expected a finite number.",
        ),
        (
            '[{"policy": "aware", "step": 1, "job_id": 0, "score": 1}]',
            "The trace holds no records of policy 'agnostic'",
        ),
        (
            '[{"policy": "aware", "step": 80, "job_id": 0, "score": 1}]',
            "A record is at step 80, expected a step from 1 to 72.",
        ),
    ],
)
def test_refused_saved_traces(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(content)
    with pytest.raises(SchedulingError) as error:
        trace_aggregation({"trace": path}, {}, 0)
    assert sentence in str(error.value)


def test_a_changed_score_changes_the_mean_by_its_72nd(result: dict[str, Any], tmp_path: Path) -> None:
    table = json.loads(json.dumps(result["tables"]["trace"]))
    table["rows"][0][3] += 0.72
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(table))
    mean = trace_aggregation({"trace": path}, {}, 0)["outputs"]["baseline"]["aware"]["all"]["mean"]
    before = result["outputs"]["published"]["baseline"]["aware"]["all"]["mean"]
    assert mean - before == pytest.approx(0.01)
    assert math.isfinite(mean)
