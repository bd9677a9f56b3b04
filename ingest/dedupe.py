"""When two records are certainly the same work. What is only likely is for people to decide."""

from collections.abc import Iterable
from dataclasses import dataclass

from ingest.identifiers import normalise
from schema.work import IDENTITY_SCHEMES, Identifier, Work

# An address may be that of a whole proceedings, and `other` may be anything: neither is certain.
_CERTAIN = (*IDENTITY_SCHEMES, "isbn")
_PARTS = frozenset({"chapter", "paper-conference", "entry", "entry-dictionary", "entry-encyclopedia"})


@dataclass(frozen=True)
class SameWork:
    """That two records name one work, and why: a sentence to show beside the pair."""

    shared: tuple[Identifier, ...]
    evidence: str


def same_work(a: Work, b: Work) -> SameWork | None:
    """The evidence that two records share an identifier, or None where nothing is certain.

    Versions of one arXiv paper are one work, and so is its arXiv DOI. A preprint and an article that
    share no identifier are two records. An ISBN counts only between whole books. Where more schemes tell
    the two apart than name them one, the shared identifier is somebody's mistake, and they are two.
    """
    mine, theirs = _names(a), _names(b)
    shared = tuple(own for name, own in mine.items() if name in theirs)
    if not shared or len(_disagreeing(mine, theirs)) > len({own.scheme for own in shared}):
        return None
    parts: list[str] = []
    for own in shared:
        other = theirs[own.scheme, own.value]
        versions = f" ({own.version or 'no version'} and {other.version or 'no version'})"
        parts.append(f"{own.scheme} {own.value}{versions if own.version != other.version else ''}")
    evidence = f"both are {' and '.join(parts)}"
    if _folded(a.title) != _folded(b.title):
        evidence += f", though the titles differ ({a.title[:80]!r} and {b.title[:80]!r})"
    return SameWork(shared, evidence)


def _disagreeing(mine: Iterable[tuple[str, str]], theirs: Iterable[tuple[str, str]]) -> set[str]:
    """The schemes in which both have names and share none."""
    one, other = set(mine), set(theirs)
    both = {scheme for scheme, _ in one} & {scheme for scheme, _ in other} & set(IDENTITY_SCHEMES)
    return both - {scheme for scheme, _ in one & other}


def _names(work: Work) -> dict[tuple[str, str], Identifier]:
    names: dict[tuple[str, str], Identifier] = {}
    for given in work.identifiers:
        own = normalise(given.scheme, given.value) or given
        if own.scheme not in _CERTAIN or (own.scheme == "isbn" and work.type in _PARTS):
            continue
        if own.version is None and given.version is not None:
            own = own.model_copy(update={"version": given.version})
        names.setdefault((own.scheme, own.value), own)
    return names


def _folded(title: str) -> str:
    return "".join(c for c in title.casefold() if c.isalnum())
