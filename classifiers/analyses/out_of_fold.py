"""Out-of-fold predictions as the CSV file that the calibration report reads."""

import csv
import io
from collections.abc import Mapping, Sequence
from math import isnan

from classifiers.features import Document
from classifiers.folds import venue_groups
from classifiers.report import COLUMNS
from classifiers.student import TrainedStudent


def predictions_csv(
    student: TrainedStudent, documents: Sequence[Document], strata: Mapping[str, str] | None = None
) -> str:
    """A line for each record and available head, in order of heads and ids.

    An unknown label is an empty cell. A record that some model couldn't score (no text, no known word)
    has no line: it is counted with its head. A group is a venue as the folds take it, empty where a
    record is its own. `strata` maps ids to strata.
    """
    known = {document.id: document for document in documents}
    table = student.out_of_fold
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for column, head in enumerate(student.heads):
        calibrated = head.calibrator is not None
        for row, name in enumerate(table.ids if head.available else ()):
            score, label = float(table.log_odds[row, column]), float(table.labels[row, column])
            probability = float(table.probability[row, column])
            unscored = isnan(score) or (calibrated and not isnan(label) and isnan(probability))
            if unscored:
                continue
            document = known[name]
            (group,) = venue_groups([document])
            writer.writerow([
                name, head.name.side, head.name.category, int(table.fold[row]),
                group.removeprefix("venue:") if group.startswith("venue:") else "",
                "" if isnan(label) else int(label), repr(float(table.weights[row])), repr(score),
                "" if isnan(probability) or isnan(label) else repr(probability),
                (strata or {}).get(name, ""), document.language or "",
                int(bool(document.abstract and document.abstract.strip())),
            ])  # fmt: skip
    return text.getvalue()
