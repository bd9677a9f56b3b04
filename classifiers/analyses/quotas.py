"""Quotas and their identities as an analysis: how many works a head calls, and whether sides add up."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classifiers.analyses.tables import read_parameters, read_rows

RATES = ("head", "category", "rate", "covered")
CALLS = ("category", "candidate", "consensus")


def quota_counts(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """k = round(rate x covered) for each head and category, and the identity of calls.

    Inputs: ``rates`` (head, category, rate, covered) and, where calls were published, ``calls``
    (category, candidate, consensus). For two sides, |A or B| + |A and B| = |A| + |B|: the published
    sum stands beside the sum of the quotas. Deterministic; the seed is unused.

    Raises
    ------
    ClassifierError : for a table that makes no sense, with its line.
    """
    read_parameters(parameters, {})
    outputs: dict[str, Any] = {"quotas": {}, "sides": {}, "identities": {}}
    rows: list[list[Any]] = []
    for row in read_rows(inputs, "rates", RATES):
        head, category, rate = row.text("head"), row.text("category"), row.number("rate")
        if not 0 <= rate <= 1:
            raise row.error(f"rate is {rate}; expected a share from 0 to 1")
        covered = row.count("covered")
        quotas = outputs["quotas"].setdefault(category, {})
        if head in quotas:
            raise row.error(f"{head} has a rate for {category} already")
        quotas[head] = round(rate * covered)
        outputs["sides"][category] = sum(quotas.values())
        rows.append([category, head, rate, covered, quotas[head]])
    for row in read_rows(inputs, "calls", CALLS) if "calls" in inputs else []:
        category = row.text("category")
        if len(outputs["quotas"].get(category, ())) != 2:
            raise row.error(f"{category} needs the rates of exactly two heads for its identity")
        published = row.count("candidate") + row.count("consensus")
        outputs["identities"][category] = {
            "published": published,
            "sides": outputs["sides"][category],
            "missing": outputs["sides"][category] - published,
        }
    columns = ["category", "head", "rate", "covered", "k"]
    return {"outputs": outputs, "tables": {"quotas": {"columns": columns, "rows": rows}}, "charts": {}}
