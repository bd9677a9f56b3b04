"""Training as an analysis: the same records and labels give the same out-of-fold figures again."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from classifiers.analyses.out_of_fold import predictions_csv
from classifiers.analyses.tables import read_parameters
from classifiers.errors import ClassifierError
from classifiers.features import Document
from classifiers.report import calibration_report
from classifiers.student import HeadName, Parameters, train

INPUT = "records"
DEFAULTS: dict[str, Any] = {
    "FEATURES": "title,abstract", "MIN_DF": 2, "C": 10.0, "BALANCE": 0, "FOLDS": 5, "REPLICATES": 1000,
}  # fmt: skip
_KEYS = ("document", "weight", "stratum", "labels")


@dataclass(frozen=True)
class TrainingRecord:
    """One record to learn from: labels by "side/category" are 1, 0 or None for unknown."""

    document: Document
    weight: float
    stratum: str | None
    labels: Mapping[str, int | None]


def as_parameters(parameters: Parameters) -> dict[str, Any]:
    """A training's parameters as this analysis takes them."""
    return {
        "FEATURES": ",".join(parameters.features), "MIN_DF": parameters.min_df, "C": parameters.C,
        "BALANCE": int(parameters.balance), "FOLDS": parameters.folds, "REPLICATES": parameters.replicates,
    }  # fmt: skip


def write_records(records: Sequence[TrainingRecord]) -> str:
    """One JSON object a line, in order of their ids."""
    lines = [
        json.dumps(
            {
                "document": {k: v for k, v in asdict(record.document).items() if v not in (None, ())},
                "weight": record.weight, "stratum": record.stratum,
                "labels": {name: record.labels[name] for name in sorted(record.labels)},
            },
            ensure_ascii=False, allow_nan=False,
        )
        for record in sorted(records, key=lambda r: r.document.id)
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def read_records(path: Path) -> list[TrainingRecord]:
    """What `write_records` wrote.

    Raises
    ------
    ClassifierError : with the line, for one that can't be read.
    """
    records = []
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ClassifierError(f"{INPUT} isn't UTF-8 text (byte {error.start})") from error
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
            if set(value) != set(_KEYS):
                raise ValueError(f"expected the keys {', '.join(_KEYS)}")
            known = dict(value["document"])
            document = Document(**{**known, "topics": tuple(known.get("topics", ()))})
            records.append(
                TrainingRecord(document, float(value["weight"]), value["stratum"], dict(value["labels"]))
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise ClassifierError(f"{INPUT}, line {number}: no training record ({error})") from error
    if not records:
        raise ClassifierError(f"{INPUT} has no line; expected one for each record")
    return records


def train_again(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """Train on the input ``records`` and report the out-of-fold figures, as `calibration_report` does.

    Parameters as in `DEFAULTS` (``FEATURES`` separated by commas, ``BALANCE`` 0 or 1). Outputs as those
    of the report, and ``inputs_sha256`` of records, labels and weights.

    Raises
    ------
    ClassifierError : for records or parameters that make no sense, and where no head can be trained.
    """
    chosen = read_parameters(parameters, DEFAULTS)
    if chosen["BALANCE"] not in (0, 1):
        raise ClassifierError(f"BALANCE is {chosen['BALANCE']}; expected 0 or 1")
    if INPUT not in inputs:
        raise ClassifierError(f"the input {INPUT!r} is missing; it has a JSON object on each line")
    records = read_records(inputs[INPUT])
    names = sorted({name for record in records for name in record.labels})
    labels = {
        HeadName(*name.split("/", 1)): [record.labels.get(name) for record in records] for name in names
    }
    documents = [record.document for record in records]
    student = train(
        documents, labels, [record.weight for record in records],
        Parameters(
            features=tuple(chosen["FEATURES"].split(",")), min_df=chosen["MIN_DF"], C=chosen["C"],
            balance=bool(chosen["BALANCE"]), folds=chosen["FOLDS"], replicates=chosen["REPLICATES"],
        ),
        seed=seed,
    )  # fmt: skip
    strata = {r.document.id: r.stratum for r in records if r.stratum is not None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "predictions.csv")
        path.write_text(predictions_csv(student, documents, strata), encoding="utf-8")
        scale = {"SCALE": "log_odds", "REPLICATES": max(100, chosen["REPLICATES"])}
        report = calibration_report({"predictions": path}, scale, seed)
    report["outputs"]["inputs_sha256"] = student.inputs_sha256
    return report
