"""A release as an artifact package: its out-of-fold predictions, its model, and the claims they support."""

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

from artifacts.seal import seal
from catalog.training.labels import StudyLabels
from classifiers.analyses.training import DEFAULTS, TrainingRecord, as_parameters, write_records
from classifiers.student import HeadName, TrainedStudent
from schema.states import Status
from schema.work import STUDY_TYPE

PREDICTIONS = "outputs/out-of-fold.csv"
RECORDS = "inputs/training.jsonl"
MODEL = "model"
TIME_LIMIT_S = 3600.0
_TOLERANCE = {
    "kind": "absolute", "value": "1e-6",
    "reason": "sums over thousands of records may differ in their last bits between machines",
}  # fmt: skip
_FIGURES = (
    ("average-precision", "Average precision", ("average_precision", "value")),
    ("brier", "Brier score", ("brier", "brier")),
    ("brier-skill", "Brier skill against the base rate", ("brier_skill", "value")),
    ("slope", "Calibration slope", ("line", "slope", "value")),
    ("intercept", "Calibration intercept", ("line", "intercept", "value")),
)


def write_package(
    folder: Path,
    release: str,
    title: str,
    student: TrainedStudent,
    labels: StudyLabels,
    predictions: str,
    report: Mapping[str, Any],
    licence: str,
    synthetic: bool,
    with_texts: bool,
) -> None:
    """Write a sealed package into the folder, in which the model's files are already.

    `report` is what `calibration_report` says of the predictions. With the records' texts the training
    itself can be rerun; without them a run re-aggregates the saved predictions.
    """
    (folder / "outputs").mkdir(exist_ok=True)
    (folder / PREDICTIONS).write_text(predictions, encoding="utf-8")
    analyses = [_report_analysis(student)]
    if with_texts:
        (folder / "inputs").mkdir(exist_ok=True)
        (folder / RECORDS).write_text(training_records(labels), encoding="utf-8")
        analyses.append(_training_analysis(student))
    (folder / "README.md").write_text(_readme(title, student, with_texts), encoding="utf-8")
    manifest = {
        "manifest_version": 1,
        "id": release,
        "title": title,
        "description": "What a student learned from a study's votes, with its out-of-fold predictions: how "
        "well its scores are calibrated, and how well they rank. The claims are its own figures.",
        "work": _work(labels.study, title, synthetic),
        "licence": licence,
        "files": [
            {"path": path, "role": _role(path), "bytes": 0, "sha256": "0" * 64}
            for path in sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        ],
        "analyses": analyses,
        "claims": _claims(student, report, [a["id"] for a in analyses]),
        "caveats": _caveats(labels, synthetic, with_texts),
    }
    (folder / "manifest.json").write_text(
        json.dumps(manifest, ensure_ascii=False, indent=2, allow_nan=False) + "\n", encoding="utf-8"
    )
    seal(folder)


def training_records(labels: StudyLabels) -> str:
    """What the student learned from, a JSON object a line."""
    return write_records(
        [
            TrainingRecord(
                document,
                labels.weights[i],
                labels.strata.get(document.id),
                {str(head): values[i] for head, values in labels.labels.items()},
            )
            for i, document in enumerate(labels.documents)
        ]
    )


def claim_id(head: HeadName, figure: str) -> str:
    """The claim of one figure of one head."""
    return "-".join(part.replace("_", "-") for part in (head.side, head.category, figure))


def _claims(student: TrainedStudent, report: Mapping[str, Any], analyses: list[str]) -> list[dict[str, Any]]:
    claims: list[dict[str, Any]] = []
    for head in (head for head in student.heads if head.available):
        base = ("heads", head.name.side, head.name.category)
        found = _at(report, base)
        if found is None:
            continue
        pointers = [(("counts", "positives"), "positives", "Positive labels", "exact")]
        if found.get("after") is not None:
            pointers += [(("after", *path), name, what, "close") for name, what, path in _FIGURES]
        for path, name, what, how in pointers:
            value = _at(found, path)
            if not isinstance(value, int | float) or not isfinite(value):
                continue
            tolerance = {"kind": "exact"} if how == "exact" else _TOLERANCE
            claims.append({
                "id": claim_id(head.name, name),
                "text": f"{what} of {head.name.side} for {head.name.category}"
                + ("" if how == "exact" else ", out of fold, calibrated"),
                "value": repr(value),
                "tolerance": tolerance,
                "basis": "Computed when the release was trained, from its own out-of-fold predictions",
                "evidence": [
                    {"analysis": a, "pointer": "/" + "/".join(_escaped(p) for p in (*base, *path))}
                    for a in analyses
                ],
            })  # fmt: skip
    return claims


def _report_analysis(student: TrainedStudent) -> dict[str, Any]:
    return {
        "id": "report", "kind": "builtin", "builtin": "classifier-report",
        "description": "Calibration and ranking from the saved out-of-fold predictions.",
        "inputs": {"predictions": PREDICTIONS},
        "parameters": {"SCALE": "log_odds", "REPLICATES": max(100, student.parameters.replicates)},
        "seed": student.seed, "time_limit_s": TIME_LIMIT_S,
    }  # fmt: skip


def _training_analysis(student: TrainedStudent) -> dict[str, Any]:
    parameters = as_parameters(student.parameters)
    return {
        "id": "training", "kind": "builtin", "builtin": "classifier-training",
        "description": "The training itself, from records, labels and weights.",
        "inputs": {"records": RECORDS},
        "parameters": {name: parameters[name] for name in DEFAULTS},
        "seed": student.seed, "time_limit_s": TIME_LIMIT_S,
    }  # fmt: skip


def _caveats(labels: StudyLabels, synthetic: bool, with_texts: bool) -> list[str]:
    machines = [side.name for side in labels.sides if side.kind == "model"]
    people = [side.name for side in labels.sides if side.kind == "human"]
    caveats = ["Synthetic: every record and every label is made up."] if synthetic else []
    if machines:
        caveats.append(
            f"Teacher imitation: the labels of {', '.join(machines)} are a machine's, unvalidated. These "
            "figures are agreement with them, not with the truth."
        )
    if people:
        caveats.append(f"The labels of {', '.join(people)} are a person's; the scores imitate them.")
    caveats.append(f"{Status.OUT_OF_FOLD}: every figure is of records from venues that its model never saw.")
    caveats.append("A score ranks works; it asserts no label. No call follows from a score alone.")
    if not with_texts:
        caveats.append("The records' texts aren't in the package, so a run re-aggregates saved predictions.")
    return caveats


def _work(study: str, title: str, synthetic: bool) -> dict[str, Any]:
    return {
        "id": f"{study}-study", "title": f"Screening study {study}", "type": STUDY_TYPE,
        "abstract": {"note": "A study of this catalog; its records are works of their own."},
        "note": ("synthetic; " if synthetic else "") + "made by `proofshelf classify train`",
    }  # fmt: skip


def _readme(title: str, student: TrainedStudent, with_texts: bool) -> str:
    heads = "\n".join(
        f"- {head.name}: {head.availability}" + (f" ({head.reason})" if head.reason else "")
        for head in student.heads
    )
    again = (
        "`inputs/training.jsonl` has the records and labels, so a run can train again."
        if with_texts
        else "The records' texts are left out, so a run can only re-aggregate the saved predictions."
    )
    return (
        f"# {title}\n\n{again} `outputs/out-of-fold.csv` has what models that never saw a record's venue say "
        f"of it; `model/` has the weights.\n\nHeads:\n\n{heads}\n"
    )


def _role(path: str) -> str:
    return {"inputs": "input", "README.md": "source"}.get(path.split("/")[0], "output")


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")
