"""Calibration out of fold on public labelled screening sets (make oracles).

Each set has at least 40 positives. What is asked is that nothing speaks against the probabilities: the 95 %
intervals hold a slope of 1 and an intercept of 0, and the Brier skill against the base rate lies above 0.
"""

import csv
import gzip
import json
import zipfile

import numpy as np
import pytest

from classifiers.features import Document
from classifiers.student import HeadName, train


def from_csv(path):
    limit = csv.field_size_limit(1 << 30)
    try:
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
    finally:
        csv.field_size_limit(limit)
    documents = [Document(r["record_id"], r["title"] or None, r["abstract"] or None) for r in rows]
    return documents, np.array([int(r["label_included"]) for r in rows])


def from_openalex(folder):
    with (folder / "labels.csv").open(newline="") as file:
        labels = {r["openalex_id"]: int(r["label_included"]) for r in csv.DictReader(file)}
    documents, y = [], []
    with zipfile.ZipFile(folder / "works_1.zip") as archive:
        works = [w for name in sorted(archive.namelist()) for w in json.loads(archive.read(name))]
    for work in works:
        if work["id"] not in labels:
            continue
        places = work["abstract_inverted_index"] or {}
        abstract = " ".join(word for _, word in sorted((p, w) for w, ps in places.items() for p in ps))
        source = (work.get("primary_location") or {}).get("source") or work.get("host_venue") or {}
        documents.append(Document(work["id"], work["title"], abstract or None, source.get("display_name")))
        y.append(labels[work["id"]])
    return documents, np.array(y)


SETS = {
    "Kitchenham_2010.csv.gz": from_csv,
    "Nagtegaal_2019.csv.gz": from_csv,
    "synergy/Jeyaraman_2020": from_openalex,
    "synergy/Menon_2022": from_openalex,
    "synergy/Nelson_2002": from_openalex,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", SETS)
def test_probabilities_out_of_fold_are_calibrated_and_say_something(shared, name):
    documents, y = SETS[name](shared / "data" / "screening" / name)
    assert y.sum() >= 40
    student = train(documents, {HeadName("human", "included"): y}, seed=1)
    head = student.heads[0]
    figures = head.calibration.after
    assert figures.line.slope.low <= 1 <= figures.line.slope.high
    assert figures.line.intercept.low <= 0 <= figures.line.intercept.high
    assert figures.brier_skill.low > 0
    # The bins are not only the mass at zero: positives stand in several.
    assert sum(bin.positives > 0 for bin in figures.reliability) >= 3
    # Thresholds of other folds call better than chance: at random, precision is the base rate.
    for calls in head.calls:
        assert calls.precision.low > y.mean()
