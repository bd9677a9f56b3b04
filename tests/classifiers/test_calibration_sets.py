"""Five public screening sets, out of fold: a linear model on their text is calibrated by this package.

The criteria are those a reader would ask of any calibrated probability: the slope's interval contains 1,
the intercept's 0, the Brier skill's lies above 0, and reliability bins hold positives. The model is
scikit-learn's, once with classes as they are and once balanced, which is far from calibrated.
"""

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from classifiers.calibration import cross_fit

pytestmark = pytest.mark.oracle

COUNTS = {
    "Kitchenham_2010": (1704, 45),
    "Nagtegaal_2019": (2019, 101),
    "Jeyaraman_2020": (1175, 96),
    "Menon_2022": (975, 74),
    "Nelson_2002": (366, 80),
}


def read(folder: Path, name: str) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Title and abstract of each record, and its label."""
    table = folder / f"{name}.csv.gz"
    if table.exists():
        with gzip.open(table, "rt", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return [f"{r['title']} {r['abstract']}" for r in rows], np.array(
            [int(r["label_included"]) for r in rows]
        )
    works = {}
    with zipfile.ZipFile(folder / "synergy" / name / "works_1.zip") as archive:
        for member in archive.namelist():
            if member.endswith(".json"):
                works.update({work["id"]: work for work in json.loads(archive.read(member))})
    labels = io.StringIO((folder / "synergy" / name / "labels.csv").read_text(encoding="utf-8"))
    rows = [row for row in csv.DictReader(labels) if row["openalex_id"] in works]
    return [_text(works[row["openalex_id"]]) for row in rows], np.array(
        [int(r["label_included"]) for r in rows]
    )


def _text(work: dict[str, object]) -> str:
    places = work.get("abstract_inverted_index") or {}
    assert isinstance(places, dict)
    words = sorted((place, word) for word, found in places.items() for place in found)
    return f"{work.get('title') or ''} {' '.join(word for _, word in words)}"


@pytest.mark.parametrize("name", COUNTS)
def test_a_public_set_is_calibrated_out_of_fold(shared: Path, name: str) -> None:
    texts, y = read(shared / "data" / "screening", name)
    assert (len(y), int(y.sum())) == COUNTS[name]
    documents = np.array(texts, dtype=object)
    folds = np.empty(len(y), dtype=np.int64)
    scores = {None: np.empty(len(y)), "balanced": np.empty(len(y))}
    splits = StratifiedKFold(5, shuffle=True, random_state=1).split(documents, y)
    for k, (train, test) in enumerate(splits):
        folds[test] = k
        terms = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        x = terms.fit_transform(documents[train])
        for weight, s in scores.items():
            model = LogisticRegression(C=10, class_weight=weight, max_iter=1000).fit(x, y[train])
            s[test] = model.decision_function(terms.transform(documents[test]))
    for s in scores.values():
        found = cross_fit(s, y, folds=folds, seed=1)
        assert found.before is not None
        assert found.after is not None
        before, line, skill = found.before.line, found.after.line, found.after.brier_skill
        assert before.slope is not None
        assert line.slope is not None
        assert skill.low is not None
        assert not before.slope.low <= 1 <= before.slope.high, "there is something to calibrate"
        assert line.slope.low <= 1 <= line.slope.high
        assert line.intercept.low <= 0 <= line.intercept.high
        assert skill.low > 0
        assert min(b.positives for b in found.after.reliability) >= 3
