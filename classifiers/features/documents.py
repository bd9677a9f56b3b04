"""What a classifier reads of a record, and which of it a frame can serve."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from classifiers.errors import ClassifierError
from schema.screening import Instrument

FEATURES = ("title", "abstract", "venue", "topics", "field", "language", "type", "year")
TEXT = ("title", "abstract")


@dataclass(frozen=True, slots=True)
class Document:
    """One record as the classifier sees it; what is missing is None or empty."""

    id: str
    title: str | None = None
    abstract: str | None = None
    venue: str | None = None
    topics: tuple[str, ...] = ()
    field: str | None = None
    language: str | None = None
    type: str | None = None
    year: int | None = None


@dataclass(frozen=True)
class Coverage:
    """How many of `records` have each feature."""

    records: int
    having: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, documents: Iterable[Document]) -> "Coverage":
        """Count in one pass; nothing is kept of the documents."""
        records, having = 0, dict.fromkeys(FEATURES, 0)
        for document in documents:
            records += 1
            for name in FEATURES:
                value = getattr(document, name)
                if value is not None and value != () and (not isinstance(value, str) or value.strip()):
                    having[name] += 1
        return cls(records, having)


def check_use(use: Iterable[str]) -> tuple[str, ...]:
    """The features in their standard order.

    Raises ClassifierError for an unknown name, one named twice, or neither title nor abstract.
    """
    names = tuple(use)
    for name in names:
        if name not in FEATURES:
            raise ClassifierError(f"{name!r} is not a feature; expected some of {', '.join(FEATURES)}")
        if names.count(name) > 1:
            raise ClassifierError(f"the feature {name!r} is named twice; each may stand once")
    if not set(names) & set(TEXT):
        raise ClassifierError("the features hold neither title nor abstract; at least one is needed")
    return tuple(name for name in FEATURES if name in names)


def check_served(use: Iterable[str], frame: Coverage, instrument: Instrument = "unknown") -> None:
    """Refuse a feature that a frame can't serve.

    Raises ClassifierError where no record of the frame has a feature that the model uses, or where
    the instrument shows the title only and the model reads abstracts. An empty frame serves nothing
    and asks nothing.
    """
    for name in check_use(use):
        if name == "abstract" and instrument == "title":
            raise ClassifierError(
                "the model uses 'abstract', but the instrument is the title only; train one without it"
            )
        if frame.records and not frame.having.get(name, 0):
            raise ClassifierError(
                f"the model uses {name!r}, which none of the frame's {frame.records:,} records has;"
                f" train one without it"
            )
