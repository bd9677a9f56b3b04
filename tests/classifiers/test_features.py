"""Terms and TF-IDF: against scikit-learn's vectoriser, and that nothing leaks between rows."""

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from classifiers.errors import ClassifierError
from classifiers.features import (
    FEATURES,
    Corpus,
    Coverage,
    Document,
    Features,
    batches,
    check_served,
    check_use,
)
from classifiers.features.terms import words, year_bucket
from schema.states import RowState

TEXTS = st.text(alphabet="ab cd-É_ß.İ7", max_size=40)
DOCUMENTS = st.lists(
    st.builds(
        Document,
        id=st.just("x"),
        title=st.none() | TEXTS,
        abstract=st.none() | TEXTS,
        venue=st.none() | st.sampled_from(["Nature", "nature ", "PLoS ONE"]),
        topics=st.lists(st.sampled_from(["a", "b"]), max_size=3).map(tuple),
        year=st.none() | st.integers(1990, 2005),
    ),
    min_size=1,
    max_size=8,
)


def papers(n=60, seed=0):
    """Titles and abstracts of a small vocabulary with a long tail."""
    rng = np.random.default_rng(seed)

    def text(length):
        return " ".join(f"w{i}" for i in rng.zipf(1.5, size=length) if i < 300)

    return [
        Document(
            f"d{i}", text(8), text(40), venue=f"Journal {i % 7}", topics=(f"T{i % 3}", "All"), year=1990 + i
        )
        for i in range(n)
    ]


def same(one, other):
    """Two CSR matrices, bit for bit."""
    return (
        one.shape == other.shape
        and one.indptr.tolist() == other.indptr.tolist()
        and one.indices.tolist() == other.indices.tolist()
        and one.data.tobytes() == other.data.tobytes()
    )


@given(st.text())
def test_words_of_ascii_and_of_unicode_follow_one_rule(text):
    # The rule in one line, without the fast way for ASCII.
    assert words(text) == re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def test_words_are_folded_and_split_at_everything_else():
    assert words("Meta-research, p_value: ÉTUDE Straße ﬁn d'Or") == [
        *("meta", "research", "p", "value", "étude", "strasse", "fin", "d", "or")
    ]


def test_weights_are_those_of_scikit_learn():
    # An independent implementation: pairs within a field only, so each document is its own title.
    documents = [Document(d.id, d.abstract) for d in papers()]
    peer = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, sublinear_tf=True, tokenizer=str.split, token_pattern=None
    )
    expected = peer.fit_transform([d.title for d in documents])
    ours = Features(("title",), min_df=2)
    got = ours.fit_transform(documents)
    assert sorted(ours.get_feature_names_out()) == sorted(peer.get_feature_names_out())
    columns = [peer.vocabulary_[name] for name in ours.get_feature_names_out()]
    assert np.abs(got - expected[:, columns]).max() < 1e-12


def test_pairs_stay_within_a_field_and_other_fields_are_terms_of_their_own():
    document = Document(
        "x",
        "Open science",
        "Data sharing",
        "The  Journal",
        ("Data", "data", "B"),
        "Medicine",
        "EN",
        "Article",
        2012,
    )
    features = Features(FEATURES, min_df=1)
    features.fit([document])
    assert sorted(features.get_feature_names_out()) == sorted(
        [
            *("open", "science", "open science", "data", "sharing", "data sharing"),
            *("venue:the journal", "topics:data", "topics:b", "field:medicine", "language:en"),
            *("type:article", "year:2010-2014"),
        ]
    )


def test_years_fall_into_buckets_of_five():
    assert [year_bucket(y) for y in (1999, 2000, 2004, 2005)] == [
        *("1995-1999", "2000-2004", "2000-2004", "2005-2009")
    ]


@settings(max_examples=60)
@given(DOCUMENTS, DOCUMENTS)
def test_a_corpus_and_its_documents_give_the_same_bytes(training, frame):
    for documents in (training, frame):
        try:
            features = Features(FEATURES, min_df=1).fit(training)
        except ClassifierError:  # no term in any of them
            return
        corpus = features.batch(Corpus.of(documents, FEATURES))
        direct = features.batch(documents)
        assert same(corpus.matrix, direct.matrix)
        assert corpus.states == direct.states


@pytest.mark.parametrize("size", [1, 7, 59, 60])
def test_batches_don_t_change_a_row(size):
    documents = papers()
    features = Features(FEATURES).fit(documents[:40])
    whole = features.transform(documents)
    rows = [features.transform(batch) for batch in batches(documents, size)]
    assert b"".join(r.data.tobytes() for r in rows) == whole.data.tobytes()
    assert [i for r in rows for i in r.indices.tolist()] == whole.indices.tolist()


def test_batches_lose_nobody():
    assert [len(b) for b in batches(papers(10), 3)] == [3, 3, 3, 1]
    assert [d.id for b in batches(papers(10), 3) for d in b] == [f"d{i}" for i in range(10)]
    assert list(batches([], 3)) == []


def test_only_the_rows_fitted_on_are_learned_from():
    documents = papers()
    train = np.arange(60) % 3 != 0
    changed = [
        d if keep else Document(d.id, "aaa zzz " * i, f"w1 w2 new{i}", venue="Other")
        for i, (d, keep) in enumerate(zip(documents, train, strict=True))
    ]
    one, other = (Features(FEATURES).fit(Corpus.of(ds, FEATURES)[train]) for ds in (documents, changed))
    assert one.tokens_ == other.tokens_
    assert one.keys_.tolist() == other.keys_.tolist()
    assert one.idf_.tobytes() == other.idf_.tobytes()
    subset = [d for d, keep in zip(documents, train, strict=True) if keep]
    assert Features(FEATURES).fit(subset).idf_.tobytes() == one.idf_.tobytes()


def test_terms_below_min_df_are_no_columns_and_frequent_ones_stand_first():
    documents = [Document("1", "a b"), Document("2", "a b b"), Document("3", "a c c")]
    assert Features(("title",), min_df=2).fit(documents).get_feature_names_out() == ["a", "a b", "b"]
    assert Features(("title",), min_df=3).fit(documents).get_feature_names_out() == ["a"]


def test_a_record_that_cannot_be_scored_says_why():
    features = Features(("title", "abstract", "venue"), min_df=1).fit([Document("t", "open data", None, "V")])
    frame = [
        *(Document("1", "Open access"), Document("2"), Document("3", " … ", "—", "V")),
        *(Document("4", "неизвестно", None, "V"), Document("5", None, "data")),
    ]
    batch = features.batch(frame)
    assert batch.states == (
        *(RowState.SCORABLE, RowState.NO_TEXT, RowState.NO_TEXT),
        *(RowState.NO_KNOWN_TERMS, RowState.SCORABLE),
    )
    assert batch.scorable.tolist() == [True, False, False, False, True]
    assert np.isfinite(batch.matrix.data).all()


def test_coverage_counts_what_is_there():
    frame = [Document("1", "a", " ", topics=("x",)), Document("2", "", None, year=2000)]
    coverage = Coverage.of(frame)
    assert coverage.records == 2
    assert [name for name in FEATURES if coverage.having[name]] == ["title", "topics", "year"]


def test_a_feature_that_the_frame_cannot_serve_is_refused():
    frame = Coverage.of([Document("1", "a", "b"), Document("2", "c")])
    check_served(("title", "abstract"), frame)
    with pytest.raises(
        ClassifierError, match="the model uses 'venue', which none of the frame's 2 records has"
    ):
        check_served(("title", "venue"), frame)
    with pytest.raises(
        ClassifierError, match="the model uses 'abstract', but the instrument is the title only"
    ):
        check_served(("title", "abstract"), frame, "title")
    check_served(("title",), frame, "title")


@pytest.mark.parametrize(
    ("use", "sentence"),
    [
        (("title", "colour"), "'colour' is not a feature"),
        (("title", "title"), "'title' is named twice"),
        (("venue",), "neither title nor abstract"),
        ((), "neither title nor abstract"),
    ],
)
def test_features_are_named_and_hold_text(use, sentence):
    with pytest.raises(ClassifierError, match=sentence):
        check_use(use)


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(ClassifierError, match="no term occurs in at least 2 of the 2 training records"):
        Features().fit([Document("1", "a"), Document("2", "b")])
    with pytest.raises(ClassifierError, match="min_df is 0"):
        Features(min_df=0)


def test_a_corpus_of_other_features_is_refused():
    with pytest.raises(ClassifierError, match="tokenised for title, but the model uses title, abstract"):
        Features().fit(Corpus.of(papers(), ("title",)))
