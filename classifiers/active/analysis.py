"""A simulated screening as an analysis that a package calls.

run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from classifiers.active.charts import recall_chart
from classifiers.active.pool import LabelledPool, draw_priors
from classifiers.active.simulate import Simulation, Strategy, simulate
from classifiers.analyses.tables import Row, read_parameters, read_rows
from classifiers.errors import ClassifierError
from classifiers.features import Document

COLUMNS = ("id", "title", "abstract", "label")
DEFAULTS = {
    "strategies": "certainty,random",
    "batch": 1,
    "prior_relevant": 1,
    "prior_irrelevant": 1,
    "replicates": 1,
}


def simulation(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """What each strategy would have found when, on records whose labels are known.

    Input ``records`` (id, title, abstract, label; further columns are not read). A label is 1 or 0, or
    empty where it is unknown: such a record is left out and counted. Parameters: ``strategies``, names
    of `Strategy` with commas between; ``batch``, records between two fits; ``prior_relevant`` and
    ``prior_irrelevant``, how many are known beforehand; ``replicates``, with priors by the seeds from
    ``seed`` on. Outputs hold for each strategy the mean of each measure over its runs (null unless every
    run has it), and the runs.

    Raises
    ------
    ClassifierError : for a table or a parameter that makes no sense, with its line.
    """
    chosen = read_parameters(parameters, DEFAULTS)
    for name in ("batch", "replicates"):
        if chosen[name] < 1:
            raise ClassifierError(f"{name} is {chosen[name]}; expected a whole number from 1 up")
    strategies = _strategies(chosen["strategies"])
    documents, labels, unknown = _records(read_rows(inputs, "records", COLUMNS, others=True))
    pool = LabelledPool.of(documents, labels)
    ids = [document.id for document in documents]
    runs: dict[Strategy, list[Simulation]] = {strategy: [] for strategy in strategies}
    for replicate in range(seed, seed + chosen["replicates"]):
        priors = draw_priors(ids, labels, replicate, chosen["prior_relevant"], chosen["prior_irrelevant"])
        for strategy in strategies:
            runs[strategy].append(
                simulate(pool, priors, strategy=strategy, batch=chosen["batch"], seed=replicate)
            )
    return {
        "outputs": {
            "parameters": chosen,
            "records": len(pool),
            "relevant": int(pool.relevant.sum()),
            "unknown_label_left_out": unknown,
            "without_text": sum(
                not (d.title or "").strip() and not (d.abstract or "").strip() for d in documents
            ),
            "strategies": {strategy.value: _outputs(of) for strategy, of in runs.items()},
        },
        "tables": {"runs": _runs_table(runs), "order": _order_table(runs)},
        "charts": {
            "recall": recall_chart(
                {strategy.value: of[0].discovery for strategy, of in runs.items()},
                f"Recall of the first run (seed {seed})",
            )
        },
    }


def _strategies(text: str) -> list[Strategy]:
    names = [name.strip() for name in text.split(",")]
    known = [strategy.value for strategy in Strategy]
    for name in names:
        if name not in known or names.count(name) > 1:
            raise ClassifierError(f"strategies holds {name!r}; expected each once of {', '.join(known)}")
    return [Strategy(name) for name in names]


def _records(rows: Sequence[Row]) -> tuple[list[Document], list[bool], int]:
    """Documents and labels of the rows that have one, and how many have none."""
    documents: list[Document] = []
    labels: list[bool] = []
    for row in rows:
        label, one = row.cells["label"].strip(), row.text("id")
        if label not in ("0", "1", ""):
            raise row.error(f"label is {label!r}; expected 1, 0, or nothing where it is unknown")
        if label:
            documents.append(Document(one, row.cells["title"] or None, row.cells["abstract"] or None))
            labels.append(label == "1")
    return documents, labels, len(rows) - len(documents)


def _outputs(runs: Sequence[Simulation]) -> dict[str, Any]:
    summaries = [run.discovery.summary() for run in runs]
    means: dict[str, float | None] = {}
    for name in summaries[0]:
        values = [summary[name] for summary in summaries]
        known = [value for value in values if value is not None]
        means[name] = sum(known) / len(known) if len(known) == len(values) else None
    return {
        "mean": means,
        "runs": [
            {"seed": run.seed, "priors": list(run.priors), "ended": run.ended.value, **summary}
            for run, summary in zip(runs, summaries, strict=True)
        ],
    }


def _runs_table(runs: Mapping[Strategy, Sequence[Simulation]]) -> dict[str, Any]:
    rows = [
        [strategy.value, run.seed, *run.discovery.summary().values()]
        for strategy, of in runs.items()
        for run in of
    ]
    measures = next(iter(runs.values()))[0].discovery.summary()
    return {"columns": ["strategy", "seed", *measures], "rows": rows}


def _order_table(runs: Mapping[Strategy, Sequence[Simulation]]) -> dict[str, Any]:
    """The order of discovery of each first run."""
    rows = [
        [strategy.value, place, step.id, int(step.relevant), step.reason, step.trained_on]
        for strategy, of in runs.items()
        for place, step in enumerate(of[0].steps, start=1)
    ]
    return {"columns": ["strategy", "place", "id", "label", "reason", "trained_on"], "rows": rows}
