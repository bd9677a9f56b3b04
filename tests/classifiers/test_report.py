"""The calibration report: figures against scikit-learn and by hand, states, and files that make no sense."""

import csv
import json
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from artifacts.analyses import GROUP
from artifacts.builtin_worker import checked
from classifiers.errors import ClassifierError
from classifiers.report import COLUMNS, calibration_report

N = 600
Rows = list[dict[str, Any]]


def rows_of(head: str = "codex", category: str = "sts", seed: int = 0) -> Rows:
    """Labelled records with true probabilities as `probability` and their roots as raw scores."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.5, 3, N)
    y = rng.random(N) < p
    weights = rng.choice([1.0, 2.5], N)
    return [
        {
            "work": f"w{i}",
            "head": head,
            "category": category,
            "fold": i % 5,
            "group": f"venue {i % 100}",
            "y": int(y[i]),
            "weight": float(weights[i]),
            "score": float(p[i] ** 0.5),
            "probability": float(p[i]),
            "stratum": "ab"[i % 2],
            "language": "fr" if i < 20 else "" if i < 40 else "en",
            "has_abstract": int(i % 7 > 0),
        }
        for i in range(N)
    ]


def write(path: Path, rows: Rows, columns: Sequence[str] = COLUMNS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.fixture(scope="module")
def rows() -> Rows:
    """A head with support, the same head uncalibrated, one with few positives, one without labels."""
    known = rows_of()
    for i in range(10):
        known[i]["y"] = ""
    raw = [{**row, "category": "raw", "probability": ""} for row in rows_of(seed=1)]
    few = [{**row, "category": "few", "y": int(i < 5), "probability": ""} for i, row in enumerate(rows_of())]
    none = [{**row, "category": "none", "y": ""} for row in rows_of()[:50]]
    return [*known, *raw, *few, *none]


@pytest.fixture(scope="module")
def report(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = write(tmp_path_factory.mktemp("report") / "oof.csv", rows)
    return calibration_report({"predictions": path}, {"REPLICATES": 100}, 5)


def test_it_is_registered(rows: Rows, tmp_path: Path) -> None:
    """The function of that name gives what this package's own does."""
    (point,) = (p for p in entry_points(group=GROUP) if p.name == "classifier-report")
    inputs = {"predictions": write(tmp_path / "a.csv", [row for row in rows if row["category"] == "few"])}
    assert point.load()(inputs, {}, 1) == calibration_report(inputs, {}, 1)


def test_it_obeys_the_contract(report: dict[str, Any]) -> None:
    assert checked(report) == report
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_counts_of_the_file(report: dict[str, Any]) -> None:
    outputs = report["outputs"]
    assert outputs["counts"] == {"rows": 3 * N + 50, "works": N, "heads": 1, "crossing_groups": 0}
    assert outputs["parameters"] == {"SCALE": "probability", "REPLICATES": 100, "seed": 5}
    assert sorted(outputs["heads"]["codex"]) == ["few", "none", "raw", "sts"]


def test_figures_against_scikit_learn(report: dict[str, Any], rows: Rows) -> None:
    known = [row for row in rows if row["category"] == "sts" and row["y"] != ""]
    y = [row["y"] for row in known]
    w = [row["weight"] for row in known]
    head = report["outputs"]["heads"]["codex"]["sts"]
    for stage, column in (("before", "score"), ("after", "probability")):
        p = [row[column] for row in known]
        found = head[stage]
        assert found["brier"]["brier"] == pytest.approx(sk.brier_score_loss(y, p, sample_weight=w), abs=1e-9)
        assert found["log_loss"]["value"] == pytest.approx(sk.log_loss(y, p, sample_weight=w), abs=1e-9)
        assert found["roc_auc"]["value"] == pytest.approx(sk.roc_auc_score(y, p, sample_weight=w), abs=1e-12)
        assert found["average_precision"]["value"] == pytest.approx(
            sk.average_precision_score(y, p, sample_weight=w), abs=1e-12
        )
        assert found["base_rate"] == pytest.approx(np.average(y, weights=w))


def test_the_miscalibrated_stage_is_found_out(report: dict[str, Any]) -> None:
    head = report["outputs"]["heads"]["codex"]["sts"]
    assert head["before"]["line"]["intercept"]["high"] < 0
    assert head["after"]["line"]["slope"]["low"] < 1 < head["after"]["line"]["slope"]["high"]


def test_unknown_labels_are_counted_and_nothing_else(report: dict[str, Any], rows: Rows) -> None:
    counts = report["outputs"]["heads"]["codex"]["sts"]["counts"]
    known = [row for row in rows if row["category"] == "sts" and row["y"] != ""]
    assert (counts["records"], counts["known"], counts["unknown"]) == (N, N - 10, 10)
    assert counts["positives"] == sum(row["y"] for row in known)
    assert counts["positives"] + counts["negatives"] == counts["known"]
    assert counts["weight"] == pytest.approx(sum(row["weight"] for row in known))
    nothing = report["outputs"]["heads"]["codex"]["none"]
    assert (nothing["status"], nothing["reason"]) == ("unknown", "no label is known")
    assert (nothing["before"], nothing["after"], nothing["cells"]) == (None, None, {})
    assert (nothing["counts"]["known"], nothing["counts"]["unknown"]) == (0, 50)


def test_a_head_without_support_has_counts_and_no_figure(report: dict[str, Any]) -> None:
    few = report["outputs"]["heads"]["codex"]["few"]
    assert (few["status"], few["before"], few["after"]) == ("insufficient_support", None, None)
    assert few["reason"].startswith("5 positives worth ")
    assert few["counts"]["positives"] == 5
    cell = few["cells"]["stratum"]["a"]
    assert (cell["state"], cell["counts"]["positives"], cell["before"]) == ("too_few_positives", 3, None)


def test_a_head_that_is_not_calibrated_has_no_after(report: dict[str, Any]) -> None:
    raw = report["outputs"]["heads"]["codex"]["raw"]
    assert (raw["status"], raw["calibrated"], raw["after"]) == ("available", False, None)
    assert raw["before"]["brier"]["brier"] > 0


def test_cells_hold_the_records_of_their_value(report: dict[str, Any], rows: Rows) -> None:
    cells = report["outputs"]["heads"]["codex"]["sts"]["cells"]
    assert {column: sorted(values) for column, values in cells.items()} == {
        "stratum": ["a", "b"],
        "language": ["", "en", "fr"],
        "has_abstract": ["0", "1"],
    }
    part = [r for r in rows if r["category"] == "sts" and r["y"] != "" and r["stratum"] == "b"]
    assert cells["stratum"]["b"]["state"] == "available"
    assert cells["stratum"]["b"]["after"]["brier"]["brier"] == pytest.approx(
        np.average([(r["probability"] - r["y"]) ** 2 for r in part], weights=[r["weight"] for r in part])
    )
    assert cells["language"]["fr"]["state"] == "too_few_positives"
    assert cells["language"]["fr"]["counts"]["records"] == 10, "ten of the twenty have no label"
    assert cells["language"]["fr"]["after"] is None
    assert cells["language"][""]["counts"]["records"] == 20


def test_tables_hold_what_the_outputs_say(report: dict[str, Any]) -> None:
    tables = report["tables"]
    heads = [dict(zip(tables["heads"]["columns"], row, strict=True)) for row in tables["heads"]["rows"]]
    assert [(h["category"], h["stage"], h["status"]) for h in heads] == [
        ("few", None, "insufficient_support"),
        ("none", None, "unknown"),
        ("raw", "before", "available"),
        ("sts", "before", "available"),
        ("sts", "after", "available"),
    ]
    after = report["outputs"]["heads"]["codex"]["sts"]["after"]
    assert heads[-1]["slope_low"] == after["line"]["slope"]["low"]
    assert heads[-1]["brier_skill_high"] == after["brier_skill"]["high"]
    assert heads[0]["brier"] is None
    names = tables["reliability"]["columns"]
    bins = [row for row in tables["reliability"]["rows"] if row[1:3] == ["sts", "after"]]
    assert [row[names.index("observed")] for row in bins] == [b["observed"] for b in after["reliability"]]
    assert sum(row[names.index("records")] for row in bins) == N - 10
    columns = tables["pr"]["columns"]
    assert columns == ["head", "category", "stage", "recall", "precision", "threshold"]
    last = [row for row in tables["pr"]["rows"] if row[1:3] == ["sts", "after"]][-1]
    assert last[3] == pytest.approx(1.0)
    assert len(report["charts"]) == 2 * 4


def test_the_seed_governs_intervals_and_nothing_else(rows: Rows, tmp_path: Path) -> None:
    path = write(tmp_path / "oof.csv", [row for row in rows if row["category"] == "raw"])
    one, again, other = (
        calibration_report({"predictions": path}, {"REPLICATES": "100"}, s) for s in (1, 1, 2)
    )
    assert json.dumps(one) == json.dumps(again)
    before, changed = (r["outputs"]["heads"]["codex"]["raw"]["before"] for r in (one, other))
    assert before["brier_skill"]["low"] != changed["brier_skill"]["low"]
    assert (before["brier"], before["line"]) == (changed["brier"], changed["line"])


def test_the_order_of_rows_says_nothing(rows: Rows, tmp_path: Path) -> None:
    part = [row for row in rows if row["category"] in ("raw", "few")]
    one = calibration_report({"predictions": write(tmp_path / "a.csv", part)}, {"REPLICATES": 100}, 1)
    two = calibration_report({"predictions": write(tmp_path / "b.csv", part[::-1])}, {"REPLICATES": 100}, 1)
    assert list(one["outputs"]["heads"]["codex"]) == list(two["outputs"]["heads"]["codex"])
    a, b = (r["outputs"]["heads"]["codex"]["raw"]["before"] for r in (one, two))
    assert a["brier_skill"]["low"] == pytest.approx(b["brier_skill"]["low"], abs=1e-12)
    assert a["average_precision"] == pytest.approx(b["average_precision"], abs=1e-12)


def test_log_odds_are_read_as_such(rows: Rows, tmp_path: Path) -> None:
    part = [dict(row) for row in rows if row["category"] == "raw"]
    same = calibration_report({"predictions": write(tmp_path / "a.csv", part)}, {"REPLICATES": 100}, 1)
    for row in part:
        row["score"] = repr(float(np.log(row["score"] / (1 - row["score"]))))
    path = write(tmp_path / "b.csv", part)
    found = calibration_report({"predictions": path}, {"SCALE": "log_odds", "REPLICATES": 100}, 1)
    a, b = (r["outputs"]["heads"]["codex"]["raw"]["before"]["brier"]["brier"] for r in (same, found))
    assert b == pytest.approx(a, abs=1e-12)
    with pytest.raises(ClassifierError, match="or the parameter SCALE set to log_odds"):
        calibration_report({"predictions": path}, {}, 1)


def test_groups_that_cross_folds_are_counted(tmp_path: Path) -> None:
    rows = rows_of()
    rows[0]["fold"] = 3
    rows[1]["group"] = ""
    outputs = calibration_report({"predictions": write(tmp_path / "a.csv", rows)}, {"REPLICATES": 100}, 1)[
        "outputs"
    ]
    assert outputs["counts"]["crossing_groups"] == 1
    assert outputs["heads"]["codex"]["sts"]["counts"]["groups"] == 101, "a record without one is its own"


def test_folds_that_hold_all_positives(tmp_path: Path) -> None:
    rows = rows_of()
    for i, row in enumerate(rows):
        row["y"] = int(i % 5 < 2 and i < 200)
    found = calibration_report({"predictions": write(tmp_path / "a.csv", rows)}, {"REPLICATES": 100}, 1)
    assert found["outputs"]["heads"]["codex"]["sts"]["status"] == "fold_degenerate"


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"y": "2"}, "predictions, line 4: y is '2'; expected 1, 0, or empty where it isn't known"),
        ({"weight": "0"}, "predictions, line 4: weight is 0; expected a number above 0"),
        ({"weight": "1e300"}, "predictions, line 4: weight is 1e+300; expected 1e-100 to 1e100"),
        ({"weight": "nan"}, "predictions, line 4: weight is 'nan'; expected a number"),
        ({"weight": ""}, "predictions, line 4: weight is empty; expected a number"),
        ({"score": "x"}, "predictions, line 4: score is 'x'; expected a number"),
        (
            {"score": "1.5"},
            "predictions, line 4: score is 1.5; expected 0 to 1, or the parameter SCALE set to",
        ),
        ({"probability": "-0.1"}, "predictions, line 4: probability is -0.1; expected 0 to 1, or empty"),
        ({"head": " "}, "predictions, line 4: head is empty; expected a name"),
        ({"work": "w0"}, "predictions, line 4: 'w0' is there twice for head 'codex' and category 'sts'"),
        ({"has_abstract": "yes"}, "predictions, line 4: has_abstract is 'yes'; expected 1, 0, or empty"),
        ({"fold": ""}, "predictions, line 4: fold is empty"),
        (
            {"probability": ""},
            "predictions: head 'codex' has a probability for 599 of 600 records with a label",
        ),
    ],
)
def test_lines_that_make_no_sense(tmp_path: Path, changed: dict[str, str], sentence: str) -> None:
    rows = rows_of()
    rows[2].update(changed)
    with pytest.raises(ClassifierError) as error:
        calibration_report({"predictions": write(tmp_path / "a.csv", rows)}, {}, 1)
    assert str(error.value).startswith(sentence)
    assert "\n" not in str(error.value)


def test_files_that_make_no_sense(tmp_path: Path) -> None:
    lacking = write(tmp_path / "lacking.csv", rows_of(), [name for name in COLUMNS if name != "weight"])
    with pytest.raises(ClassifierError, match="predictions has no column 'weight'"):
        calibration_report({"predictions": lacking}, {}, 1)
    ragged = write(tmp_path / "ragged.csv", rows_of())
    ragged.write_text(ragged.read_text() + "w,h\n")
    with pytest.raises(ClassifierError, match=f"predictions, line {N + 2}: 2 cells; expected {len(COLUMNS)}"):
        calibration_report({"predictions": ragged}, {}, 1)
    with pytest.raises(ClassifierError, match="the input 'predictions' is missing"):
        calibration_report({}, {}, 1)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"SCALE": "logit"}, "SCALE is 'logit'; expected 'probability' or 'log_odds'"),
        ({"REPLICATES": 10}, "REPLICATES is 10; expected 100 or more"),
        ({"BINS": 10}, "there is no parameter 'BINS'"),
    ],
)
def test_parameters_that_make_no_sense(tmp_path: Path, parameters: dict[str, Any], sentence: str) -> None:
    path = write(tmp_path / "a.csv", rows_of())
    with pytest.raises(ClassifierError) as error:
        calibration_report({"predictions": path}, parameters, 1)
    assert str(error.value).startswith(sentence)
