"""Charts of a head: drawn by Vega-Lite itself, exact on hover, in colours that the page can darken."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

from catalog.web import charts as page
from classifiers import charts
from classifiers.metrics import Metrics, Sample, measure, probabilities

SCRIPT = Path(page.__file__).parent / "static" / "charts.js"


@pytest.fixture(scope="module")
def samples() -> dict[str, Sample]:
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 4, 500)
    y = rng.random(500) < p
    return {"before": probabilities(p**0.5, y), "after": probabilities(p, y)}


@pytest.fixture(scope="module")
def measured(samples: dict[str, Sample]) -> dict[str, Metrics]:
    return {stage: measure(made, seed=1, replicates=100) for stage, made in samples.items()}


@pytest.fixture(scope="module")
def specs(samples: dict[str, Sample], measured: dict[str, Metrics]) -> dict[str, dict[str, Any]]:
    return charts.head_charts("student", "sts", samples, measured)


def every(node: Any, key: str) -> list[Any]:
    """All values under a key, wherever it stands outside of data."""
    if isinstance(node, list):
        return [found for item in node for found in every(item, key)]
    if not isinstance(node, dict):
        return []
    inner = [found for name, item in node.items() if name != "data" for found in every(item, key)]
    return inner + ([node[key]] if key in node else [])


def test_a_head_has_four_charts(specs: dict[str, dict[str, Any]]) -> None:
    assert list(specs) == [f"{kind}-student-sts" for kind in ("reliability", "scores", "pr", "roc")]
    assert json.loads(json.dumps(specs, allow_nan=False)) == specs
    assert charts.head_charts("student", "sts", {}, {}) == {}


def test_vega_draws_each_of_them(specs: dict[str, dict[str, Any]]) -> None:
    for spec in specs.values():
        svg = vl_convert.vegalite_to_svg(spec)
        assert spec["title"] in svg
        assert svg.count("<path") > 10


def test_fields_that_are_shown_are_in_the_data(specs: dict[str, dict[str, Any]]) -> None:
    for spec in specs.values():
        for layer in spec.get("layer", [spec]):
            fields = set(every(layer["encoding"], "field"))
            for row in layer["data"]["values"]:
                assert fields <= set(row)


def test_a_tooltip_shows_every_digit(specs: dict[str, dict[str, Any]], measured: dict[str, Metrics]) -> None:
    points = specs["reliability-student-sts"]["layer"][-1]
    shown = {
        (row["stage"], row["mean probability"], row["rate of positives"]) for row in points["data"]["values"]
    }
    assert shown == {
        (stage, repr(b.predicted), repr(b.observed)) for stage, m in measured.items() for b in m.reliability
    }
    for spec in specs.values():
        assert all(tip["type"] == "nominal" for tips in every(spec, "tooltip") for tip in tips)


def test_the_page_knows_the_dark_form_of_every_colour(specs: dict[str, dict[str, Any]]) -> None:
    known = set(re.findall(r'"(#[0-9a-f]{6})": "--', SCRIPT.read_text(encoding="utf-8")))
    used = set(re.findall(r"#[0-9a-f]{6}", json.dumps(list(specs.values()))))
    assert used
    assert used <= known


def test_stages_differ_by_more_than_colour(specs: dict[str, dict[str, Any]]) -> None:
    assert every(specs["reliability-student-sts"], "shape")
    for name in ("pr-student-sts", "roc-student-sts"):
        assert any(isinstance(dash, dict) for dash in every(specs[name], "strokeDash"))


def test_only_points_and_bars_stop_the_keyboard(specs: dict[str, dict[str, Any]]) -> None:
    for spec in specs.values():
        for mark in every(spec, "mark"):
            assert mark["type"] in ("point", "bar") or mark["aria"] is False


def test_bars_of_each_label_add_up_to_1(specs: dict[str, dict[str, Any]], samples: dict[str, Sample]) -> None:
    rows = specs["scores-student-sts"]["data"]["values"]
    after = samples["after"]
    for label, count in (("positive", after.y.sum()), ("negative", (~after.y).sum())):
        of_label = [row for row in rows if row["label"] == label]
        assert sum(row["share"] for row in of_label) == pytest.approx(1)
        assert sum(row["records"] for row in of_label) == count
    # Each probability lies in the range that its bar names.
    in_first = ((after.values < 0.001) & after.y).sum()
    assert rows[0]["probability"] == "0 to 0.001"
    assert rows[0]["records"] == in_first


def test_a_head_that_is_not_calibrated_has_its_raw_scores(
    samples: dict[str, Sample], measured: dict[str, Metrics]
) -> None:
    found = charts.head_charts("h", "c", {"before": samples["before"]}, {"before": measured["before"]})
    assert found["scores-h-c"]["title"] == "Probabilities before calibration by label: c, h"
    assert {row["stage"] for row in found["pr-h-c"]["layer"][1]["data"]["values"]} == {"before"}
