"""What a classifier reads of records: documents, terms, TF-IDF."""

from classifiers.features.documents import (
    FEATURES,
    TEXT,
    Coverage,
    Document,
    check_served,
    check_use,
)
from classifiers.features.terms import Corpus, batches
from classifiers.features.tfidf import Batch, Features

__all__ = [
    "FEATURES",
    "TEXT",
    "Batch",
    "Corpus",
    "Coverage",
    "Document",
    "Features",
    "batches",
    "check_served",
    "check_use",
]
