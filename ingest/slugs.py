"""A readable name for a work: first author, year and the first word that says something."""

import hashlib
import re
import unicodedata
from collections.abc import Container

from schema.base import Slug
from schema.work import Work

# Letters that don't come apart into a base letter and an accent.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i"}
)
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
_STOPWORDS = frozenset(
    re.split(
        r"\s+",
        "a an and are as at be by can do does for from how in into is it its of on or our over the their to "
        "toward towards under using via we what when where which who why with without "
        "der die das ein eine le la les un une des du el los las",
    )
)


def suggest_slug(work: Work, taken: Container[str]) -> Slug:
    """`author-year-word` in ASCII, such as `narayanan-2020-heterogeneity`, not among `taken`.

    The same work and the same `taken` give the same slug. A clash gets `-2` to `-9`, then a piece of
    the hash of the work. What no Latin letter spells is left out; a work with none gets its hash.
    """
    base = _base(work)
    digest = hashlib.sha256(work.model_dump_json(exclude={"id"}).encode()).hexdigest()
    if not base:
        base = f"work-{digest[:8]}"
    if base not in taken:
        return base
    for number in range(2, 10):
        if f"{base}-{number}" not in taken:
            return f"{base}-{number}"
    for length in range(8, 65, 8):
        if f"{base}-{digest[:length]}" not in taken:
            return f"{base}-{digest[:length]}"
    number = 10
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"


def _base(work: Work) -> str:
    family = ""
    if work.authors:
        names = [word for word in map(_ascii, work.authors[0].name.split()) if word]
        if len(names) > 1 and names[-1] in _SUFFIXES:
            names.pop()
        family = names[-1] if names else ""
    title = [_ascii(word) for word in re.split(r"[\s\u2010-\u2015/:-]+", work.title)]
    words = [word for word in title if word]
    telling = [word for word in words if word not in _STOPWORDS and not word.isdigit()]
    word = (telling or words or [""])[0]
    if not family and not word:
        return ""
    return "-".join(part for part in (family[:24], str(work.year or ""), word[:24]) if part)


def _ascii(word: str) -> str:
    folded = unicodedata.normalize("NFKD", word.casefold().translate(_LETTERS))
    return re.sub(r"[^a-z0-9]", "", folded)
