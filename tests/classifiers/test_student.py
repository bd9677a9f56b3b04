"""The student against scikit-learn's pipeline, and what may never reach a score that it doesn't belong to."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression as Peer
from sklearn.metrics import roc_auc_score

from classifiers.calibration import cross_fit
from classifiers.errors import ClassifierError
from classifiers.features import Corpus, Coverage, Document
from classifiers.folds import grouped_folds, venue_groups
from classifiers.student import HeadName, Parameters, score_frame, train
from classifiers.student.crossfit import Task, fit_heads, left_out
from classifiers.student.labels import labelled
from schema.states import RowState

A, B = HeadName("codex", "metaresearch"), HeadName("gemma", "metaresearch")
QUICK = Parameters(features=("title",), folds=3, C=1.0, replicates=20)


def study(n=150, seed=0):
    """Titles of common words, of which some go with the label; venues of one to a dozen records."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.35
    documents = []
    for i in range(n):
        words = [f"w{k}" for k in rng.zipf(1.4, size=9) % 60]
        words += (
            [f"signal{k}" for k in rng.integers(6, size=2)] if positive[i] == (rng.random() < 0.85) else []
        )
        venue = None if rng.random() < 0.2 else f"V{rng.integers(25)}"
        documents.append(Document(f"r{i:04d}", " ".join(words), venue=venue))
    labels = {A: positive.astype(float), B: (positive ^ (rng.random(n) < 0.1)).astype(float)}
    for y in labels.values():
        y[rng.random(n) < 0.1] = np.nan
    return documents, labels, np.exp(rng.normal(size=n)) * 500


@cache
def trained():
    documents, labels, weights = study()
    return train(documents, labels, weights, QUICK, seed=1)


def same_table(one, other):
    """Two out-of-fold tables, bit for bit."""
    return one.ids == other.ids and all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes()
        for name in ("fold", "weights", "labels", "log_odds", "probability", "nested")
    )


def pipeline(seen, y, titles, weights, C):
    """The same by scikit-learn: vectoriser and regression fitted on the rows seen, scores of all rows."""
    vectoriser = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True, tokenizer=str.split, token_pattern=None
    ).fit([t for t, s in zip(titles, seen, strict=True) if s])
    X = vectoriser.transform(titles).toarray()
    rows = seen & ~np.isnan(y)
    w = weights[rows] * rows.sum() / weights[rows].sum()
    model = Peer(C=C, solver="newton-cholesky", tol=1e-12, max_iter=500).fit(X[rows], y[rows], w)
    return model.decision_function(X)


def test_every_score_is_what_scikit_learn_gives_without_its_folds():
    # Independent oracle: each of the final, out-of-fold and nested scores from its own fresh pipeline.
    documents, _, _ = study()
    student = trained()
    table = student.out_of_fold
    titles = [d.title for d in documents]
    assert table.ids == tuple(d.id for d in documents)
    for column, head in enumerate(student.heads):
        y = table.labels[:, column]
        final = pipeline(np.ones(len(y), bool), y, titles, table.weights, QUICK.C)
        assert np.abs(student.model.score(documents).log_odds[:, column] - final).max() < 1e-6, head.name
        for k in range(3):
            here = table.fold == k
            expected = pipeline(~here, y, titles, table.weights, QUICK.C)
            assert np.abs(table.log_odds[here, column] - expected[here]).max() < 1e-6
            assert np.isnan(table.nested[k, here, column]).all()
            for j in set(range(3)) - {k}:
                there = table.fold == j
                expected = pipeline(~here & ~there, y, titles, table.weights, QUICK.C)
                assert np.abs(table.nested[k, there, column] - expected[there]).max() < 1e-6


def test_balanced_classes_are_those_of_scikit_learn():
    documents, labels, _ = study()
    balanced = replace(QUICK, balance=True)
    student = train(documents, {A: labels[A]}, parameters=balanced, seed=1)
    known = ~np.isnan(labels[A])
    vectoriser = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True, tokenizer=str.split, token_pattern=None
    )
    X = vectoriser.fit_transform([d.title for d in documents]).toarray()
    peer = Peer(C=1.0, solver="newton-cholesky", tol=1e-12, class_weight="balanced")
    expected = peer.fit(X[known], labels[A][known]).decision_function(X)
    assert np.abs(student.model.score(documents).log_odds[:, 0] - expected).max() < 1e-6


def test_calibration_is_made_of_scores_that_saw_neither_fold():
    # The same function on the table that is handed out; without the nested scores it comes to others.
    documents, _, _ = study()
    table = trained().out_of_fold
    for column, head in enumerate(trained().heads):
        rows = ~np.isnan(table.labels[:, column])
        records = (table.log_odds[rows, column], table.labels[rows, column], table.weights[rows])
        common = {"folds": table.fold[rows], "groups": np.array(venue_groups(documents))[rows]}
        honest, pooled = (
            cross_fit(*records, **common, nested=nested, seed=1, replicates=1).probability
            for nested in (table.nested[:, rows, column], None)
        )
        assert head.calibration.status == "available"
        assert np.array_equal(table.probability[rows, column], honest)
        assert not np.array_equal(honest, pooled)


@pytest.mark.parametrize("without", [(0,), (1, 2)])
def test_what_is_held_out_can_change_no_bit_of_the_model(without):
    # Held-out texts are permuted among themselves and replaced, their labels turned round.
    documents, labels, weights = study()
    y = np.column_stack([labels[A], labels[B]])
    fold = grouped_folds(venue_groups(documents), y, 3, 1)
    held = np.isin(fold, without)
    mixed = list(documents)
    for i, j in zip(np.flatnonzero(held), np.flatnonzero(held)[::-1], strict=True):
        mixed[i] = Document(
            documents[i].id, f"{documents[j].title} aaaa zzzz zzzz new{i}", venue=documents[i].venue
        )
    turned = np.where(held[:, None], 1 - y, y)
    one = fit_heads(Task(Corpus.of(documents, ("title",)), y, weights, fold, QUICK), ~held)
    heavy = np.where(held, 99.0, weights)
    other = fit_heads(Task(Corpus.of(mixed, ("title",)), turned, heavy, fold, QUICK), ~held)
    assert one.features.tokens_ == other.features.tokens_
    assert one.features.idf_.tobytes() == other.features.idf_.tobytes()
    assert one.coef.tobytes() == other.coef.tobytes()
    assert one.intercept.tobytes() == other.intercept.tobytes()


def test_what_only_a_venue_says_helps_no_score_out_of_fold():
    # Labels go by venue and the title names it: seen, it says all; out of fold it can say nothing.
    rng = np.random.default_rng(2)
    of_venue = rng.permutation(np.repeat([0.0, 1.0], 20))
    venue = np.repeat(np.arange(40), 8)
    documents = [
        Document(f"r{i:04d}", f"of{v} " + " ".join(f"w{k}" for k in rng.integers(20, size=6)), venue=f"V{v}")
        for i, v in enumerate(venue)
    ]
    y = of_venue[venue]
    student = train(documents, {A: y}, parameters=QUICK, seed=0)
    seen = student.model.score(documents).log_odds[:, 0]
    assert roc_auc_score(y, seen) > 0.99
    assert roc_auc_score(y, student.out_of_fold.log_odds[:, 0]) < 0.6


def test_unknown_labels_are_left_out_and_counted():
    documents, labels, _ = study()
    for column, name in enumerate((A, B)):
        head = trained().heads[column]
        y = labels[name]
        assert head.name == name
        assert (head.counts.positives, head.counts.negatives) == (np.sum(y == 1), np.sum(y == 0))
        assert head.counts.unknown == np.isnan(y).sum() > 0
        assert len(documents) == head.counts.positives + head.counts.negatives + head.counts.unknown
        # Unknown records are scored out of fold as any other, but no figure counts them.
        assert np.isfinite(trained().out_of_fold.log_odds[:, column]).all()
        assert np.isnan(trained().out_of_fold.probability[np.isnan(y), column]).all()
        assert head.calibration.support.records == head.counts.positives + head.counts.negatives


def test_none_is_unknown_too():
    documents, labels, weights = study()
    as_none = {head: [None if math.isnan(v) else v for v in y] for head, y in labels.items()}
    assert same_table(train(documents, as_none, weights, QUICK, seed=1).out_of_fold, trained().out_of_fold)


def test_records_without_text_teach_nothing_and_get_no_score():
    documents, labels, weights = study()
    bare = [Document(f"z{i}", " " if i else None, venue="Bare") for i in range(4)]
    more = {head: np.append(y, [1, 0, 1, np.nan]) for head, y in labels.items()}
    student = train(documents + bare, more, np.append(weights, np.ones(4)), QUICK, seed=1)
    assert [h.counts.without_text for h in student.heads] == [3, 3]
    assert [h.counts.positives for h in student.heads] == [h.counts.positives for h in trained().heads]
    assert np.isnan(student.out_of_fold.log_odds[-4:]).all()
    scores = student.model.score([*bare, documents[0]])
    assert scores.states == (*[RowState.NO_TEXT] * 4, RowState.SCORABLE)
    assert np.isnan(scores.log_odds[:4]).all()
    assert np.isnan(scores.score[:4]).all()
    assert np.isnan(scores.probability[:4]).all()
    assert np.isfinite(scores.probability[4]).all()


def test_heads_that_cannot_be_trained_say_why_and_make_no_score():
    documents, labels, _ = study()
    venues = np.array([d.venue for d in documents])
    one_venue = np.where(venues == "V3", 1.0, 0.0)
    two_folds = np.zeros(len(documents))
    fold = trained().out_of_fold.fold
    for k in (0, 1):
        two_folds[np.flatnonzero(fold == k)[:2]] = 1
    few = np.zeros(len(documents))
    few[[np.flatnonzero(fold == k)[j] for k in range(3) for j in range(3)]] = 1
    given = labels | {
        HeadName("x", "all_unknown"): np.full(len(documents), np.nan),
        HeadName("x", "no_positive"): np.zeros(len(documents)),
        HeadName("x", "one_venue"): one_venue,
        HeadName("x", "few"): few,
    }
    student = train(documents, given, parameters=QUICK, seed=1)
    heads = {head.name.category: head for head in student.heads if head.name.side == "x"}
    assert heads["all_unknown"].availability == "insufficient_support"
    assert heads["all_unknown"].reason == "0 positives and 0 negatives; expected some of each"
    assert heads["no_positive"].availability == "insufficient_support"
    assert heads["one_venue"].availability == "fold_degenerate"
    assert "all its positives lie in fold" in heads["one_venue"].reason
    assert [head.category for head in student.model.heads] == ["metaresearch", "metaresearch", "few"]
    assert student.model.score(documents[:5]).log_odds.shape == (5, 3)
    columns = [i for i, head in enumerate(student.heads) if not head.available]
    assert np.isnan(student.out_of_fold.log_odds[:, columns]).all()
    # Nine positives make a model, and no calibration.
    assert heads["few"].available
    assert heads["few"].calibration.status == "insufficient_support"
    assert heads["few"].calibrator is None
    assert np.isnan(student.model.score(documents[:5]).probability[:, 2]).all()


def test_where_two_folds_hold_all_positives_nothing_is_calibrated_or_called():
    # Sixty positives in two venues: the model without both of their folds would know no positive.
    documents, _, _ = study()
    documents = [
        Document(d.id, d.title, venue=f"P{i % 2}" if i < 60 else d.venue) for i, d in enumerate(documents)
    ]
    student = train(documents, {A: np.arange(150) < 60}, parameters=QUICK, seed=1)
    head = student.heads[0]
    assert head.available
    assert np.isfinite(student.out_of_fold.log_odds).all()
    assert head.calibration.status == "fold_degenerate"
    assert head.calls == ()
    assert np.isnan(student.out_of_fold.probability).all()


def test_no_head_at_all_is_refused():
    documents, _, _ = study()
    with pytest.raises(
        ClassifierError, match=r"no head can be trained; codex/metaresearch: 0 positives and 150"
    ):
        train(documents, {A: np.zeros(150)}, parameters=QUICK, seed=1)


def test_the_order_of_records_and_heads_says_nothing():
    documents, labels, weights = study()
    order = np.random.default_rng(5).permutation(len(documents))
    student = train(
        [documents[i] for i in order],
        {head: labels[head][order] for head in (B, A)},
        weights[order],
        QUICK,
        seed=1,
    )
    assert same_table(student.out_of_fold, trained().out_of_fold)
    assert student.inputs_sha256 == trained().inputs_sha256
    assert student.linear.coef.tobytes() == trained().linear.coef.tobytes()


def test_the_unit_of_the_weights_says_nothing():
    documents, labels, weights = study()
    student = train(documents, labels, weights * 1024, QUICK, seed=1)
    assert np.abs(student.out_of_fold.log_odds - trained().out_of_fold.log_odds).max() < 1e-9


def test_the_inputs_hash_sees_every_input():
    documents, labels, weights = study()
    base = labelled(documents, labels, weights).sha256()
    assert base == trained().inputs_sha256
    d = documents[0]
    changed = [
        labelled(documents, labels | {A: np.where(np.arange(150) == 7, np.nan, 0)}, weights),
        labelled(documents, {A: labels[A]}, weights),
        labelled(documents, labels, None),
        *(
            labelled(
                [Document(d.id, d.title, venue=d.venue, **{field: value}), *documents[1:]], labels, weights
            )
            for field, value in {
                "abstract": "x",
                "topics": ("x",),
                "field": "x",
                "language": "en",
                "type": "x",
                "year": 2000,
            }.items()
        ),
        labelled([Document(d.id, "other", venue=d.venue), *documents[1:]], labels, weights),
        labelled([Document(d.id, d.title, venue="other"), *documents[1:]], labels, weights),
        labelled([Document("a", d.title, venue=d.venue), *documents[1:]], labels, weights),
    ]
    assert len({base, *(data.sha256() for data in changed)}) == 1 + len(changed)


def test_processes_and_batches_change_no_byte():
    documents, labels, weights = study()
    student = train(documents, labels, weights, QUICK, seed=1, jobs=2)
    assert same_table(student.out_of_fold, trained().out_of_fold)
    assert student.linear.coef.tobytes() == trained().linear.coef.tobytes()
    assert [h.calibration.to_json() for h in student.heads] == [
        h.calibration.to_json() for h in trained().heads
    ]
    whole = trained().model.score(documents)
    coverage = Coverage.of(documents)
    for size, jobs in ((150, 1), (7, 1), (1, 1), (10, 2)):
        parts = list(score_frame(trained().model, documents, coverage, jobs=jobs, size=size))
        assert [i for part in parts for i in part.ids] == list(whole.ids)
        assert b"".join(part.log_odds.tobytes() for part in parts) == whole.log_odds.tobytes()
        assert b"".join(part.probability.tobytes() for part in parts) == whole.probability.tobytes()


def test_a_frame_that_lacks_a_feature_is_refused_before_any_score():
    documents, _, _ = study()

    def frame():
        pytest.fail("a record was read")
        yield documents[0]

    empty = Coverage.of([Document("1", abstract="text")])
    with pytest.raises(ClassifierError, match="uses 'title', which none of the frame's 1 records has"):
        score_frame(trained().model, frame(), empty)
    abstracts = [Document(d.id, None, d.title, venue=d.venue) for d in documents]
    student = train(abstracts, study()[1], parameters=Parameters(folds=3, features=("abstract",)), seed=1)
    with pytest.raises(ClassifierError, match="the instrument is the title only"):
        score_frame(student.model, frame(), Coverage.of(abstracts), "title")


def test_progress_is_told_of_each_piece_and_may_interrupt():
    documents, labels, weights = study(60)
    told = []
    train(documents, labels, weights, QUICK, seed=1, progress=lambda *piece: told.append(piece))
    pieces = len(left_out(3)) + len(labels)
    assert [(done, total) for done, total, _ in told] == [(i + 1, pieces) for i in range(pieces)]
    assert told[0][2] == "fit on all folds"
    assert told[-1][2] == "calibration of gemma/metaresearch"

    def interrupt(done, total, what):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(documents, labels, weights, QUICK, seed=1, progress=interrupt)


def test_out_of_fold_scores_carry_their_status():
    assert trained().out_of_fold.status == "out_of_fold_teacher_fidelity"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda d, y, w: ([*d[:-1], d[0]], y, w), "record 'r0000' is there twice"),
        (lambda d, y, w: ([], y, w), "there are no records"),
        (lambda d, y, w: (d, {}, w), "there are no heads to train"),
        (
            lambda d, y, w: (d, {A: y[A][:-1]}, w),
            r"codex/metaresearch has 149 labels; expected one for each of 150",
        ),
        (
            lambda d, y, w: (d, {A: [0.5, *y[A][1:]]}, w),
            "the label of 'r0000' is 0.5; expected 1, 0 or unknown",
        ),
        (lambda d, y, w: (d, {A: ["yes", *y[A][1:]]}, w), "a label isn't a number"),
        (lambda d, y, w: (d, y, [0.0, *w[1:]]), "the weight of 'r0000' is 0.0; expected a number above 0"),
        (lambda d, y, w: (d, y, [*w[:-1], -1]), "the weight of 'r0149' is -1.0"),
        (lambda d, y, w: (d, y, [*w[:-1], math.nan]), "the weight of 'r0149' is nan"),
        (lambda d, y, w: (d, y, [*w[:-1], math.inf]), "the weight of 'r0149' is inf"),
        (lambda d, y, w: (d, y, [*w[:-1], None]), "the weight of 'r0149' is nan"),
        (lambda d, y, w: (d, y, w[:-1]), "there are 149 weights; expected one for each of 150"),
        (
            lambda d, y, w: ([Document(x.id, x.title, venue="V") for x in d], y, w),
            "1 groups can't fill 3 folds",
        ),
        (lambda d, y, w: ([Document(x.id, abstract=x.title) for x in d], y, w), "uses 'title', which none"),
        (lambda d, y, w: ([Document("", "a b"), *d[1:]], y, w), "'' is no id of a record"),
    ],
)
def test_bad_input_gets_one_sentence(change, sentence):
    with pytest.raises(ClassifierError, match=sentence):
        train(*change(*study()), QUICK, seed=1)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"folds": 2}, "the folds are 2; expected 3 or more"),
        ({"C": 0}, "C is 0"),
        ({"min_df": 0}, "min_df is 0"),
        ({"features": ("colour",)}, "'colour' is not a feature"),
        ({"replicates": 0}, "the replicates are 0"),
    ],
)
def test_parameters_out_of_range_are_refused(given, sentence):
    with pytest.raises(ClassifierError, match=sentence):
        Parameters(**given)
