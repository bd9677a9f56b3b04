from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.errors import AnalysisError, ArtifactError, PackageError
from artifacts.package import open_package
from artifacts.rerun import RerunResult, overridden, rerun
from schema.artifact import Analysis

Make = Callable[..., Path]


def call(root: Path, overrides: dict[str, str], analysis: str | None = None) -> RerunResult:
    with open_package(root) as package:
        return rerun(package.root, package.manifest, overrides, analysis)


def sentence(root: Path, overrides: dict[str, str], analysis: str | None = None) -> str:
    with pytest.raises(ArtifactError) as caught:
        call(root, overrides, analysis)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def package(analyses: Path, make_package: Make, draft: dict[str, Any]) -> Path:
    draft["analyses"].append(
        {
            "id": "mean",
            "kind": "builtin",
            "builtin": "mean",
            "inputs": {"jobs": "inputs/jobs.csv"},
            "parameters": {"factor": 1},
        }
    )
    return make_package(draft)


def test_another_parameter_gives_another_result(package: Path) -> None:
    """The mean of 10, 20 and 30 is 20; three times that is 60."""
    assert call(package, {}).outputs["mean"] == 20
    result = call(package, {"factor": "3"})
    assert (
        result.analysis,
        result.parameters,
        result.changed,
        result.outputs["mean"],
    ) == ("mean", {"factor": 3}, ("factor",), 60)
    assert call(package, {"factor": "1"}).changed == ()


def test_a_query_can_be_run_again_by_name(package: Path) -> None:
    assert call(package, {}, "from-trace").outputs["rows"] == [[2.0]]


def test_an_unknown_parameter_lists_those_known(package: Path) -> None:
    assert sentence(package, {"factr": "3"}) == (
        "analysis mean: has no parameter 'factr'; did you mean 'factor'? its parameters are factor=1"
    )


def test_a_value_of_another_type(package: Path) -> None:
    assert sentence(package, {"factor": "much"}) == (
        "analysis mean: factor='much' isn't a whole number such as 1; its parameters are factor=1"
    )


def test_a_value_that_the_analysis_refuses(package: Path) -> None:
    assert sentence(package, {"factor": "-1"}) == (
        "analysis mean: factor must not be negative; expected 0 or more"
    )


def test_an_unknown_analysis(package: Path) -> None:
    assert sentence(package, {}, "other") == (
        "small has no analysis 'other'; its analyses are from-jobs, from-trace, mean"
    )


def test_a_package_without_a_builtin(make_package: Make) -> None:
    assert sentence(make_package(), {}) == (
        "small has no builtin analysis to run again; name one of from-jobs, from-trace"
    )


def test_changed_input_is_not_computed_from(package: Path) -> None:
    """A rerun speaks of the package, so it must be the package's bytes."""
    (package / "inputs/jobs.csv").write_text("id,steps\n1,1\n")
    with pytest.raises(PackageError, match=r"inputs/jobs\.csv: isn't the package's file \(its SHA-256 is "):
        call(package, {})
    (package / "inputs/jobs.csv").unlink()
    assert sentence(package, {}) == "inputs/jobs.csv: is missing, so mean can't be run"


VALUES: list[tuple[Any, str, Any]] = [
    (1, "2", 2),
    (1.5, "2", 2),
    (1.5, "1e-3", 0.001),
    ("a", "b", "b"),
    ("a", "1", "1"),
    (True, "false", False),
    ([1, 2], "3,4,5", [3, 4, 5]),
    ([1, 2], "[3, 4]", [3, 4]),
    ([1, 2], "3", [3]),
    (["a"], "b,c", ["b", "c"]),
    ([1.5], "1,2", [1, 2]),
    ({"a": 1}, '{"b": 2}', {"b": 2}),
    (None, "7", 7),
    (None, "[1]", [1]),
]


@pytest.mark.parametrize(("default", "text", "expected"), VALUES)
def test_values_have_the_type_of_the_parameter(default: Any, text: str, expected: Any) -> None:
    analysis = Analysis(id="a", kind="builtin", builtin="b", parameters={"p": default})
    assert overridden(analysis, {"p": text}) == {"p": expected}


@pytest.mark.parametrize(
    ("default", "text"),
    [
        (1, "1.5"),
        (1, "true"),
        (True, "1"),
        (1.5, "x"),
        (1.5, "NaN"),
        ([1], "a,b"),
        ([1], "[[1]]"),
        ({}, "[]"),
    ],
)
def test_values_of_another_type_are_refused(default: Any, text: str) -> None:
    analysis = Analysis(id="a", kind="builtin", builtin="b", parameters={"p": default})
    with pytest.raises(
        AnalysisError, match=r"^analysis a: p='.*' isn't .* such as .*; its parameters are p="
    ):
        overridden(analysis, {"p": text})
