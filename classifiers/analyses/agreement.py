"""Agreement as an analysis: from published counts of pairs and panels."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classifiers.agreement import (
    AgreementTable,
    agreement,
    ratings_from_pair,
    ratings_from_positive_counts,
)
from classifiers.analyses.tables import read_parameters, read_rows
from classifiers.errors import ClassifierError

DEFAULTS = {"replicates": 2000}


def agreement_counts(
    inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0
) -> dict[str, Any]:
    """Every coefficient for each comparison of published counts.

    Inputs, one or both: ``pairs`` (comparison, works, a, b, both) for two raters; ``panels``
    (comparison, raters, positives, works), a line for each number of positives. Parameter
    ``replicates`` of the bootstrap, which the seed governs.

    Raises
    ------
    ClassifierError : for a table that makes no sense, with its line.
    """
    chosen = read_parameters(parameters, DEFAULTS)
    outputs: dict[str, Any] = {}
    rows: list[list[Any]] = []
    if not {"pairs", "panels"} & set(inputs):
        raise ClassifierError("neither 'pairs' nor 'panels' is among the inputs")
    compared: dict[str, Any] = {}
    for row in read_rows(inputs, "pairs", PAIRS) if "pairs" in inputs else []:
        name = row.text("comparison")
        if name in compared:
            raise row.error(f"the comparison {name!r} is there twice")
        try:
            compared[name] = ratings_from_pair(*(row.count(c) for c in PAIRS[1:]))
        except ClassifierError as error:
            raise row.error(str(error)) from error
    for name, (raters, counts) in _panels(inputs).items():
        if name in compared:
            raise ClassifierError(f"the comparison {name!r} is among both pairs and panels")
        compared[name] = ratings_from_positive_counts(counts, raters)
    for name, ratings in compared.items():
        table = agreement(ratings, seed=seed, replicates=chosen["replicates"]).tables[0]
        outputs[name] = _output(table)
        rows += [
            [
                name,
                c.name,
                c.value,
                c.interval.low if c.interval else None,
                c.interval.high if c.interval else None,
            ]
            for c in table.coefficients
        ]
    columns = ["comparison", "coefficient", "value", "low", "high"]
    return {"outputs": outputs, "tables": {"agreement": {"columns": columns, "rows": rows}}, "charts": {}}


PAIRS = ("comparison", "works", "a", "b", "both")
PANELS = ("comparison", "raters", "positives", "works")


def _panels(inputs: Mapping[str, Path]) -> dict[str, tuple[int, dict[int, int]]]:
    found: dict[str, tuple[int, dict[int, int]]] = {}
    for row in read_rows(inputs, "panels", PANELS) if "panels" in inputs else []:
        name, raters, positives = row.text("comparison"), row.count("raters"), row.count("positives")
        known, counts = found.setdefault(name, (raters, {}))
        if known != raters:
            raise row.error(f"{name} has {raters} raters here and {known} before")
        if positives in counts or positives > raters:
            raise row.error(f"{positives} positives of {raters} raters can't stand here (again)")
        counts[positives] = row.count("works")
    return found


def _output(table: AgreementTable) -> dict[str, Any]:
    """Values by name; None, with the reason beside, where a coefficient has none."""
    found: dict[str, Any] = {"works": table.counts.items}
    for coefficient in table.coefficients:
        found[coefficient.name] = coefficient.value
        if coefficient.undefined is not None:
            found[f"{coefficient.name}_undefined"] = coefficient.undefined
    positives = {k: int(works) for _, k, works in table.counts.by_positives}
    found["any_positive"] = sum(works for k, works in positives.items() if k)
    found["positives"] = {str(k): works for k, works in positives.items()}
    return found
