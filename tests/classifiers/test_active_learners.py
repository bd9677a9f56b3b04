"""The learner of the loop against scikit-learn's ridge regression, and the features of its pool."""

import random
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge

from classifiers.active.features import pool_matrix
from classifiers.active.learners import BALANCE, BIAS, RELEVANT_WEIGHT, LeastSquares
from classifiers.errors import ClassifierError
from classifiers.features import Document

WORDS = [f"term{i}" for i in range(60)]


def documents(n: int, seed: int = 0) -> list[Document]:
    draw = random.Random(seed)
    return [
        Document(
            f"{i:04}", " ".join(draw.choices(WORDS, k=5)), " ".join(draw.choices(WORDS, k=draw.randrange(40)))
        )
        for i in range(n)
    ]


def ridge_scores(matrix: sparse.csr_matrix, rows: list[int], labels: list[bool]) -> np.ndarray:
    """The same problem by scikit-learn: twice the objective, the constant as a further column."""
    y = np.where(labels, 1.0, -1.0)
    light = RELEVANT_WEIGHT * sum(labels) / (BALANCE * (len(labels) - sum(labels)))
    full = np.hstack([matrix.toarray(), np.full((matrix.shape[0], 1), np.sqrt(BIAS))])
    model = Ridge(alpha=1.0, fit_intercept=False, solver="cholesky")
    model.fit(full[rows], y, sample_weight=2 * np.where(labels, RELEVANT_WEIGHT, light))
    return np.asarray(model.predict(full))


def test_scores_agree_with_scikit_learn_after_every_label() -> None:
    """100 records labelled one by one: more than the first size of every buffer."""
    matrix = pool_matrix(documents(100))
    learner = LeastSquares(matrix)
    draw = random.Random(1)
    rows, labels = draw.sample(range(100), 100), []
    for row in rows:
        labels.append(draw.random() < 0.3)
        learner.add(row, labels[-1])
        if learner.ready and len(labels) % 5 == 0:
            expected = ridge_scores(matrix, rows[: len(labels)], labels)
            np.testing.assert_allclose(learner.fit().scores(), expected, atol=2e-3)


def test_a_refit_after_one_label_takes_a_few_steps_however_many_labels_there_are() -> None:
    matrix = pool_matrix(documents(400))
    learner = LeastSquares(matrix)
    steps = []
    for row in range(400):
        before = learner.steps
        learner.add(row, row % 10 == 0)
        if learner.ready:
            learner.fit()
            steps.append(learner.steps - before)
    assert max(steps[300:]) <= max(6, max(steps[:50]))
    assert sum(steps) < 5 * len(steps)


def test_one_kind_of_label_ranks_nothing() -> None:
    learner = LeastSquares(pool_matrix(documents(5)))
    learner.add(0, True)
    assert not learner.ready
    with pytest.raises(ClassifierError, match="only one kind"):
        learner.fit()


def test_pool_features_agree_with_scikit_learn() -> None:
    """Words and pairs as two blocks, a title's counted twice, each weighted by scikit-learn.

    Inner products of different records, which are all that the learner uses of terms of one record only.
    """

    def terms(document: Document, size: int) -> list[str]:
        found = []
        for text in (document.title, document.title, document.abstract):
            words = (text or "").split()
            found += [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]
        return found

    docs = documents(40)
    expected = np.zeros((40, 40))
    for size in (1, 2):
        reference = TfidfVectorizer(analyzer=partial(terms, size=size), sublinear_tf=True, max_df=0.95)
        block = reference.fit_transform(docs)
        expected += (block @ block.T).toarray()
    found, apart = pool_matrix(docs), ~np.eye(40, dtype=bool)
    np.testing.assert_allclose((found @ found.T).toarray()[apart], expected[apart], atol=1e-12)


def test_words_are_two_characters_or_more_in_any_case_and_form() -> None:
    """p, n and 1 are no words, and the ligature of "\ufb01n" is "fin"."""
    matrix = pool_matrix([Document("a", "Fin p n 1"), Document("b", "\ufb01n"), Document("c", "other")])
    assert matrix.shape == (3, 1)
    assert matrix.toarray()[:, 0] == pytest.approx([1, 1, 0])


def test_a_record_without_text_has_an_empty_row() -> None:
    matrix = pool_matrix([Document("a", "one two"), Document("b"), Document("c", "one two")])
    assert matrix[1].nnz == 0
    assert matrix[0].nnz > 0


@pytest.mark.parametrize(("ids", "message"), [([], "no records"), (["x", "y", "x"], "'x' stands twice")])
def test_pools_that_cannot_be(ids: list[str], message: str) -> None:
    with pytest.raises(ClassifierError, match=message):
        pool_matrix([Document(one, "text") for one in ids])
