"""A training from beginning to end: labels, student, gate, package, release; recorded at its end, whole."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog import screening_queries
from catalog.errors import CatalogError
from catalog.training.gate import Gate, GateReport, PastRelease, judge_gate
from catalog.training.labels import StudyLabels, study_labels
from catalog.training.package import MODEL, PREDICTIONS, write_package
from classifiers.analyses.out_of_fold import predictions_csv
from classifiers.features import check_served
from classifiers.features.documents import Coverage
from classifiers.metrics.summary import plain
from classifiers.release import code_sha256, save
from classifiers.report import calibration_report
from classifiers.student import Parameters, TrainedHead, TrainedStudent, train
from classifiers.student.labels import labelled
from schema.scores import Head, ModelRelease
from schema.states import FileState, Status, score_status

if TYPE_CHECKING:
    from catalog.store import Catalog

DECIMALS = 9
"""Scores are stored rounded to these: fine enough to rank by, and they print as they are."""


@dataclass(frozen=True)
class Choices:
    """What a training is asked for."""

    rounds: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    parameters: Parameters = field(default_factory=Parameters)
    seed: int = 0
    gate: Gate = "strict"
    with_texts: bool | None = None
    jobs: int = 1


@dataclass(frozen=True)
class Trained:
    """A release as it was recorded, and what training found; one that was here has no heads and no gate."""

    release: ModelRelease
    heads: tuple[TrainedHead, ...]
    gate: GateReport | None
    labels: StudyLabels


def train_release(
    catalog: "Catalog", study: str, choices: Choices, who: str, progress: Callable[..., None] | None = None
) -> Trained:
    """Train a student of a study and record it as a package and a release of one name.

    The same votes, parameters, code and seed give the release that is here already, without training.
    Raises CatalogError, or ClassifierError for what can't be learned from.
    """
    connection = catalog.connection
    page = screening_queries.study_page(connection, study)
    labels = study_labels(
        screening_queries.training_rows(connection, study), choices.rounds, choices.raters, choices.categories
    )
    last_vote = screening_queries.last_vote(connection)  # read after the votes: none of them is later
    frame = Coverage.of(document for _, document in screening_queries.frame_documents(connection, study))
    for instrument in labels.instruments:
        check_served(choices.parameters.features, frame, instrument)  # type: ignore[arg-type]
    earlier = _earlier(catalog, study)
    with_texts = page.synthetic if choices.with_texts is None else choices.with_texts
    made_from = _made_from(labels, choices, with_texts)
    for known in earlier:
        if known.made_from == made_from:
            return Trained(known.release, (), None, labels)
    student = train(
        labels.documents, labels.labels, labels.weights, choices.parameters,
        seed=choices.seed, jobs=choices.jobs,
        progress=None if progress is None else lambda done, total, what: progress(what, done, total),
    )  # fmt: skip
    predictions = predictions_csv(student, labels.documents, labels.strata)
    number = _free_number(catalog, study, earlier)
    calibrated = [str(h.name) for h in student.heads if h.available and h.calibrator is not None]
    past, newest = [known.as_past for known in earlier], PastRelease(number, labels.panel, predictions)
    gate = judge_gate(past, newest, calibrated, choices.gate, choices.seed)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        version = save(student, root / MODEL, gate.maturity).version
        slug = f"{study}-r{number}"
        (root / "outputs").mkdir()
        (root / PREDICTIONS).write_text(predictions, encoding="utf-8")
        replicates = max(100, choices.parameters.replicates)
        report = calibration_report(
            {"predictions": root / PREDICTIONS}, {"SCALE": "log_odds", "REPLICATES": replicates}, choices.seed
        )
        title = f"{page.title}: student, release {number}"
        write_package(
            root, slug, title, student, labels, predictions, report["outputs"],
            licence=(page.study.licence if page.study else None) or "not stated",
            synthetic=page.synthetic,
            with_texts=with_texts,
        )  # fmt: skip
        release = _release(slug, title, version, number, student, labels, gate)
        record = {"made_from": made_from, "last_vote": last_vote} | _record(
            number, student, labels, gate, report
        )
        files = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and (path.is_relative_to(root / MODEL) or path == root / PREDICTIONS)
        }
        with catalog.together():
            catalog.add_package(root, who)
            catalog.record_release(release, record, student.inputs_sha256, files, who)
    return Trained(release, student.heads, gate, labels)


@dataclass(frozen=True)
class _Earlier:
    release: ModelRelease
    made_from: dict[str, Any]
    as_past: PastRelease


def _free_number(catalog: "Catalog", study: str, earlier: Sequence[_Earlier]) -> int:
    """The next number whose name neither a release nor a package from elsewhere has."""
    number = 1 + max((known.as_past.number for known in earlier), default=0)
    taken = {summary.slug for summary in screening_queries.releases(catalog.connection)}
    while f"{study}-r{number}" in taken or catalog.artifact_id(f"{study}-r{number}") is not None:
        number += 1
    return number


def _made_from(labels: StudyLabels, choices: Choices, with_texts: bool) -> dict[str, Any]:
    """Everything that decides what is learned, judged and packed: the same again is the same release."""
    return {
        "inputs_sha256": labelled(labels.documents, labels.labels, labels.weights).sha256(),
        "code_sha256": code_sha256(), "parameters": choices.parameters.to_json(), "seed": choices.seed,
        "gate": choices.gate, "panel": labels.panel, "with_texts": with_texts,
    }  # fmt: skip


def _earlier(catalog: "Catalog", study: str) -> list[_Earlier]:
    """The study's releases that were trained here, oldest first, with their predictions."""
    found = []
    for summary in reversed(screening_queries.releases(catalog.connection, study)):
        page = screening_queries.model_page(catalog.connection, summary.slug)
        file = next((f for f in page.files if f.path == PREDICTIONS), None)
        if file is None or page.record is None:
            continue
        if catalog.objects.verify(file.sha256) is not FileState.MATCH:
            raise CatalogError(
                f"the stored file {PREDICTIONS} of release {summary.slug} is missing or was changed, so the "
                "gate can't compare with it; `proofshelf audit` says more"
            )
        data = catalog.objects.path(file.sha256).read_bytes().decode("utf-8")
        past = PastRelease(int(page.record["number"]), str(page.record["panel"]), data)
        found.append(_Earlier(page.release, dict(page.record.get("made_from", {})), past))
    return found


def _release(
    slug: str, title: str, version: str, number: int, student: TrainedStudent, labels: StudyLabels,
    gate: GateReport,
) -> ModelRelease:  # fmt: skip
    return ModelRelease(
        id=slug, title=title, version=version, status=score_status(gate.maturity).value,
        maturity=gate.maturity, training_rounds=number,
        calibrated=_calibrated(student),
        decimals=DECIMALS, heads=tuple(_head(h, labels) for h in student.heads),
        source="trained here", study=labels.study, artifact=slug,
        note=f"learned from {len(labels.works)} works of {', '.join(labels.rounds)}",
    )  # fmt: skip


def _calibrated(student: TrainedStudent) -> bool:
    """Whether some head is calibrated, and every head with support is; the others say so themselves."""
    found = [h.calibration for h in student.heads if h.available and h.calibration is not None]
    return any(c.final for c in found) and all(c.final for c in found if c.status == "available")


def _head(head: TrainedHead, labels: StudyLabels) -> Head:
    side = next(s for s in labels.sides if s.id == head.name.side)
    support = None if head.calibration is None else head.calibration.support
    availability = head.availability
    if head.calibration is not None and head.calibration.status != "available":
        availability = head.calibration.status  # scored, but without the support that a call needs
    return Head(
        name=head.name.side, imitates=f"{side.name} ({'machine' if side.kind == 'model' else 'person'})",
        categories=(head.name.category,), availability=availability,
        positives=head.counts.positives,
        ess_positives=None if support is None else round(support.effective_positives, 6),
        calibration=None if head.calibration is None or head.calibration.choice is None
        else str(head.calibration.choice.method),
    )  # fmt: skip


def _record(
    number: int, student: TrainedStudent, labels: StudyLabels, gate: GateReport, report: Mapping[str, Any]
) -> dict[str, Any]:
    """What training computed, as the release keeps it and its page prints it."""
    heads: list[dict[str, Any]] = []
    for head in student.heads:
        heads.append({
            "head": head.name.side, "category": head.name.category, "availability": head.availability,
            "reason": head.reason, "unscored": head.unscored,
            "counts": {"positives": head.counts.positives, "negatives": head.counts.negatives,
                       "unknown": head.counts.unknown, "without_text": head.counts.without_text},
            "calibration": None if head.calibration is None else head.calibration.to_json(),
            "calls": [
                {"policy": c.policy, "confusion": plain(c.confusion), "precision": plain(c.precision),
                 "recall": plain(c.recall), "f1": plain(c.f1)}
                for c in head.calls
            ],
        })  # fmt: skip
    record = {
        "number": number, "panel": labels.panel, "study": labels.study,
        "rounds": list(labels.rounds), "works": len(labels.works),
        "label_statuses": sorted({s.value for s in labels.statuses}),
        "status": Status.OUT_OF_FOLD.value, "parameters": student.parameters.to_json(),
        "seed": student.seed, "inputs_sha256": student.inputs_sha256,
        "heads": heads, "gate": gate.to_json(),
        "report": {"outputs": report["outputs"], "charts": report["charts"]},
    }  # fmt: skip
    return json.loads(json.dumps(record, allow_nan=False))  # type: ignore[no-any-return]
