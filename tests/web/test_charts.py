"""What is read out of a chart's specification, and the script that draws it."""

import pytest

from catalog.web import charts
from schema.artifact import File


def file(path: str, role: str = "figure") -> File:
    return File(path=path, role=role, bytes=1, sha256="0" * 64)


def test_rows_are_found_wherever_they_stand() -> None:
    spec = {
        "datasets": {"a": [{"x": 1, "y": 0.1}]},
        "layer": [{"data": {"values": [{"x": 2, "z": None}]}}, {"data": {"name": "a"}}],
    }
    assert charts.table(spec) == charts.DataTable(("x", "y", "z"), (("1", "0.1", ""), ("2", "", "")))


@pytest.mark.parametrize(
    "spec", [{}, {"data": {"url": "x.csv"}}, {"data": {"values": "a,b"}}, {"layer": 3}, {"data": 1}]
)
def test_a_specification_without_rows_has_an_empty_table(spec: dict[str, object]) -> None:
    assert charts.table(spec).rows == ()


def test_a_chart_knows_its_picture_and_files() -> None:
    listed = (
        file("figures/a.vl.json"),
        file("figures/a.svg"),
        file("outputs/a.csv", "output"),
        file("figures/b.svg"),
    )
    made = charts.chart(listed[0], {"title": {"text": ["Two", "lines"]}, "description": "Words"}, listed)
    assert (made.title, made.description) == ("Two lines", "Words")
    assert (made.picture, made.companions) == ("figures/a.svg", ("figures/a.svg", "outputs/a.csv"))
    assert charts.chart(listed[0], ["not", "an", "object"], listed).title == "A"


def test_csv_keeps_numbers_and_disarms_formulas() -> None:
    table = charts.DataTable(("n", "text"), (("-1.5", "=1+1"), ("2", "a,b")))
    assert charts.as_csv(table) == b'n,text\n-1.5,\'=1+1\n2,"a,b"\n'


def test_the_bundle_is_one_module_made_here() -> None:
    body = charts.bundle()
    assert body is not None
    assert b"as vegaEmbed" in body[-200:]
    assert charts.bundle() is body
