"""Tables of labels: which records were included and which excluded, under the names that records have.

A label is included, excluded or unknown. An empty cell, `maybe` and `unsure` are unknown, never excluded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ingest import identifiers
from ingest.delimited import Header, Row, folded, header_of, rows
from ingest.errors import IngestError
from ingest.sources import only_text, open_source
from ingest.text import clean, whole
from schema.work import Identifier, Rejected

Value = Literal["included", "excluded", "unknown"]

_WORDS: tuple[tuple[Value, tuple[str, ...]], ...] = (
    ("included", ("1", "1.0", "true", "yes", "include", "included", "relevant")),
    ("excluded", ("0", "0.0", "false", "no", "exclude", "excluded", "irrelevant", "not relevant")),
    ("unknown", ("", "maybe", "unsure", "unknown")),
)
VALUES: dict[str, Value] = {word: value for value, words in _WORDS for word in words}
"""What a cell may say, in any case."""
NAMES: dict[str, tuple[str, ...]] = {
    "openalex": ("openalex_id", "openalex"),
    "doi": ("doi", "di"),
    "pmid": ("pmid", "pubmed_id"),
    "arxiv": ("arxiv", "arxiv_id"),
    "key": ("record_id", "key", "slug", "id", "work"),
}
_REASONS = {
    "reason": ("reason", "reasons", "exclusion_reason"),
    "notes": ("notes", "note", "comment", "comments"),
}
_FIRST = "label_included"
_SHOWN = 5
_LABELS = frozenset(
    {"included", "include", "label", "labels", "inclusion", "decision", "final_decision", "relevant",
     "final_included", "asreview_label", "asreview_prior_label"}
)  # fmt: skip


@dataclass(frozen=True)
class Label:
    """One row: the names of its record, in the order of `NAMES`, and what it says.

    `key` is the record's own name in its study as text; `given` is the cell as it stands, and `others`
    are further columns of labels by name.
    """

    line: int
    identifiers: tuple[Identifier, ...]
    key: str | None
    value: Value
    given: str
    others: tuple[tuple[str, Value], ...] = ()
    reason: str | None = None
    notes: tuple[str, ...] = ()

    def name(self) -> str:
        """How a message calls the record: by its first name."""
        return (
            f"{self.identifiers[0].scheme} {self.identifiers[0].value}" if self.identifiers else str(self.key)
        )


@dataclass(frozen=True)
class Labels:
    """A table of labels. Every row is in `rows`, in `repeated` (it said again what one of `rows` says) or in
    `rejected`."""

    filename: str
    sha256: str
    column: str
    other_columns: tuple[str, ...]
    rows: tuple[Label, ...]
    repeated: tuple[Label, ...]
    rejected: tuple[Rejected, ...]
    notes: tuple[str, ...]

    def count(self, value: Value) -> int:
        """How many records have this label."""
        return sum(row.value == value for row in self.rows)


def read_labels(source: Path | str | bytes, column: str | None = None, filename: str | None = None) -> Labels:
    """Read a CSV or TSV table of labels, which may be gzipped.

    `column` says which column holds the labels; otherwise it is `label_included`, or the only one that is
    named like labels. Raises IngestError, with one sentence, where the file can't be read, no column names
    records or holds labels, or several might.
    """
    file = open_source(source, filename)
    with file.members() as members:
        member, head = only_text(members, file.name)
        header = header_of(head, _known)
        if header is None:
            raise IngestError(
                f"{file.name}: this is no table of labels; expected a first line that names a record "
                f"({', '.join(names[0] for names in NAMES.values())}) and its label (such as label_included)"
            )
        columns = header.columns(NAMES)
        if not columns:
            raise IngestError(
                f"{file.name}: no column names the records; expected one of "
                f"{', '.join(name for names in NAMES.values() for name in names)}"
            )
        place, others = _label_columns(header, column, set(columns.values()), file.name)
        reading = _Columns(header, columns, place, others)
        taken: list[tuple[Label, str]] = []
        rejected: list[Rejected] = []
        with member.text() as text:
            for row in rows(text, header):
                label = row if isinstance(row, Rejected) else reading.label(row)
                if isinstance(label, Label) and isinstance(row, Row):
                    taken.append((label, row.raw))
                elif isinstance(label, Rejected):
                    rejected.append(label)
        if member.problem is not None:
            rejected.append(Rejected(raw="", reason=f"labels may be missing here: {member.problem}"))
    kept, repeated, contradicted = _settle(taken)
    return Labels(
        filename=file.name,
        sha256=file.sha256,
        column=header.names[place],
        other_columns=tuple(header.names[i] for i in others),
        rows=tuple(kept),
        repeated=tuple(repeated),
        rejected=tuple(sorted(rejected + contradicted, key=lambda r: (r.line is None, r.line or 0))),
        notes=(reading.note(),),
    )


def _is_label(name: str) -> bool:
    return name in _LABELS or name.startswith("label_")


def _known(name: str) -> bool:
    return _is_label(name) or any(name in names for names in NAMES.values())


def _label_columns(
    header: Header, wanted: str | None, taken: set[int], filename: str
) -> tuple[int, tuple[int, ...]]:
    """The column of labels, and those of further labels, by their places."""
    names = [folded(name) for name in header.names]
    if wanted is not None:
        exact = [i for i, name in enumerate(header.names) if name == wanted]
        like = exact or [i for i, name in enumerate(names) if name == folded(wanted)]
        if len(like) != 1:
            there = "there are several columns" if like else "there is no column"
            raise IngestError(f"{filename}: {there} {wanted!r}; its columns are {', '.join(header.names)}")
        place = like[0]
    candidates = [i for i, name in enumerate(names) if _is_label(name) and i not in taken]
    if wanted is None:
        first = [i for i in candidates if names[i] == _FIRST] or candidates
        if len(first) != 1:
            shown = ", ".join(header.names[i] for i in first)
            what = f"{shown} may each be the label; say which column it is" if first else (
                "no column is named like a label; expected one such as label_included, or say which it is"
            )  # fmt: skip
            raise IngestError(f"{filename}: {what}")
        place = first[0]
    return place, tuple(i for i in candidates if i != place)


@dataclass(frozen=True)
class _Columns:
    """What the columns of a table hold, and its rows as labels."""

    header: Header
    names: Mapping[str, int]
    place: int
    others: tuple[int, ...]

    def note(self) -> str:
        """Which columns are used for what."""
        also = ", ".join(repr(self.header.names[i]) for i in self.others)
        named = ", ".join(f"{field} from {self.header.names[i]!r}" for field, i in self.names.items())
        return (
            f"labels from {self.header.names[self.place]!r}{'; further labels from ' if also else ''}{also}"
            f"; records named by {named}"
        )

    def label(self, row: Row) -> Label | Rejected:
        """One row as a label, or rejected with the reason."""
        notes = list(row.notes)
        found: list[Identifier] = []
        key: str | None = None
        for field, place in self.names.items():
            said = clean(row.cells[place])
            if not said:
                continue
            if field == "key":
                key = said
                named = identifiers.named_by_address(said)
                found += [named] if named else []
                continue
            identifier = identifiers.normalise(field, said)
            if identifier is not None:
                found.append(identifier)
            else:
                notes.append(
                    f"{self.header.names[place]} {said[:100]!r} isn't a valid {field} and is left out"
                )
        if not found and key is None:
            return Rejected(line=row.line, raw=row.raw, reason="; ".join(["the row names no record", *notes]))
        values: list[Value] = []
        for place in (self.place, *self.others):
            given = row.cells[place]
            value = VALUES.get(clean(given).casefold())
            if value is None:
                reason = (
                    f"{self.header.names[place]} is {whole(given)[:60]!r}; expected one of "
                    f"{', '.join(repr(known) for known in VALUES)}"
                )
                return Rejected(line=row.line, raw=row.raw, reason=reason)
            values.append(value)
        texts = {field: clean(row.cells[i]) for field, i in self.header.columns(_REASONS).items()}
        return Label(
            line=row.line,
            identifiers=identifiers.unique(found),
            key=key,
            value=values[0],
            given=row.cells[self.place],
            others=tuple(zip((self.header.names[i] for i in self.others), values[1:], strict=True)),
            reason="; ".join(text for text in texts.values() if text) or None,
            notes=tuple(notes),
        )


def _settle(taken: list[tuple[Label, str]]) -> tuple[list[Label], list[Label], list[Rejected]]:
    """Rows to keep, rows that say the same of a record again, and all rows of a record that contradict."""
    first: dict[tuple[str, str], int] = {}
    records: dict[int, list[int]] = {}
    for at, (label, _) in enumerate(taken):
        names = _names(label)
        known = (first[name] for name in names.items() if name in first)
        same = next((i for i in known if _same_record(_names(taken[i][0]), names)), at)
        records.setdefault(same, []).append(at)
        for name in names.items():
            first.setdefault(name, same)
    kept: list[Label] = []
    repeated: list[Label] = []
    rejected: list[Rejected] = []
    for places in records.values():
        labels = [taken[i][0] for i in places]
        if len({(label.value, label.others) for label in labels}) == 1:
            kept.append(labels[0])
            for label in labels[1:]:
                note = f"{label.name()} has the same label in line {labels[0].line}"
                repeated.append(replace(label, notes=(*label.notes, note)))
            continue
        said = ", ".join(f"{label.given!r} in line {label.line}" for label in labels[:_SHOWN])
        for i in places:
            label, raw = taken[i]
            reason = f"{label.name()} has {len(labels)} labels that differ: {said}"
            rejected.append(Rejected(line=label.line, raw=raw, reason=reason))
    return kept, repeated, rejected


def _names(label: Label) -> dict[str, str]:
    """The names of a label's record by their kind, the most certain first."""
    names = {identifier.scheme: identifier.value for identifier in reversed(label.identifiers)}
    ordered = {scheme: names[scheme] for scheme in NAMES if scheme in names}
    return ordered | ({"key": label.key} if label.key is not None else {})


def _same_record(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether the first kind of name that both have is the same: two works may share a DOI by mistake."""
    scheme = next((scheme for scheme in NAMES if scheme in one and scheme in other), None)
    return scheme is not None and one[scheme] == other[scheme]
