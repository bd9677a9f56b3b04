"""Two programs that share no code agree on every exact figure."""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import scheduling_core.crosscheck
from scheduling_core.crosscheck import CrosscheckError, run


def numbers(tree: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers(value, f"{path}/{key}")
    else:
        yield path, tree


def test_every_exact_figure_has_a_second_opinion(
    outputs: dict[str, Any], second_opinion: dict[str, Any]
) -> None:
    """Same pointers, same values: 1e-10 relative for numbers, equality for all else."""
    main = dict(numbers(outputs["exact"]))
    other = dict(numbers(second_opinion["exact"]))
    missing = {path for path in main if path not in other}
    assert {path.split("/")[2] for path in missing} == {"interval_comparison"}
    for path, value in other.items():
        if isinstance(value, float):
            assert value == pytest.approx(main[path], rel=1e-10, abs=1e-10), path
        else:
            assert value == main[path], path


def test_it_imports_nothing_of_ours() -> None:
    """Independence is a property of the code, so look at the code."""
    for file in Path(scheduling_core.crosscheck.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                assert not name.startswith("scheduling_core") or name.startswith("scheduling_core.crosscheck")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"MODE": 1}, "There is no parameter 'MODE', expected one of START_STEP"),
        ({"START_STEP": "x"}, "START_STEP is 'x', expected a whole number."),
        ({"END_STEP": 99}, "The interval is steps 49 to 99, expected two steps in order from 1"),
        ({"BASELINE": "9"}, "weights holds no scenario '9'"),
        ({"JOB_ID": 99, "STEPS": 72}, "There is no job 99"),
    ],
)
def test_refused(files: Mapping[str, Path], parameters: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CrosscheckError) as error:
        run(files, parameters, 0)
    assert sentence in str(error.value)
