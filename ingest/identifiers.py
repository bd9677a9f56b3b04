"""One spelling for each identifier, so that equal names are equal strings.

`idutils` checks ISBNs. Its DOI and arXiv normalisers are not used: they keep upper case, trailing
punctuation and percent-encoding, and don't know arxiv.org addresses. It is imported where it is asked,
since it compiles hundreds of patterns first.
"""

import html
import re
from bisect import bisect_left
from collections.abc import Iterable
from urllib.parse import unquote, urlsplit, urlunsplit

from schema.work import Identifier

# A DOI resolver, or a publisher's page whose path ends with the DOI (…/doi/abs/10.1145/…).
_DOI_URL = re.compile(
    r"(?:https?://)?(?:(?:dx\.|www\.)?doi\.org/+(?:doi:)?|doi-org\.[\w.-]+/+"
    r"|[\w.-]+/doi/(?:abs|full|pdf|epdf|pdfdirect|pdfplus|book|proceedings)?/*)(?=10\.)",
    re.I,
)
_DOI_LABEL = re.compile(r"(?:info:|urn:)?doi(?:\s*[:=]\s*|\s+|/)", re.I)
_DOI = re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+")
_DOI_IN_TEXT = re.compile(
    r"\b10\.[0-9]{4,9}(?:\.[0-9]{1,9}){0,5}/[^\s\"<>\u00a0]+(?:(?:<(?=[0-9]+:)|>(?=[0-9.]))[^\s\"<>\u00a0]*)*"
)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)", re.I)

_ARXIV_NEW = r"[0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{4,5}"
_ARCHIVES = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat"
    "|cs|dg-ga|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math|math-ph|mtrl-th|nlin|nucl-ex|nucl-th"
    "|patt-sol|physics|plasm-ph|q-alg|q-bio|quant-ph|solv-int|stat|supr-con"
)
_ARXIV_OLD = rf"(?:{_ARCHIVES})(?:\.[a-z]{{2}})?/[0-9]{{7}}"
_ARXIV_ID = rf"(?P<id>{_ARXIV_NEW}|{_ARXIV_OLD})(?P<version>v[1-9][0-9]*)?"
_ARXIV_PATH = r"(?:arxiv|ar5iv)\.org/(?:abs|pdf|html|format|ps|src|e-print)/"
_ARXIV_HOST = rf"(?:https?://)?(?:[\w-]+\.)?{_ARXIV_PATH}"
_ARXIV = re.compile(
    rf"(?:{_ARXIV_HOST}|arxiv\s*[:.\s]\s*|)(?:[a-z-]+/(?=[0-9]{{4}}\.))?{_ARXIV_ID}"
    r"(?:\.pdf|\.ps)?/?(?:\s*\[[\w.-]+\])?(?:[?#]\S*)?",
    re.I,
)
_ARXIV_IN_TEXT = re.compile(rf"(?:{_ARXIV_PATH}|\barxiv\s*[:.\s]\s*){_ARXIV_ID}(?![0-9])", re.I)
_SUBJECT_CLASS = re.compile(r"\.[a-z]{2}(?=/)", re.I)

_PMID = re.compile(
    r"(?:(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|(?:www\.)?ncbi\.nlm\.nih\.gov/pubmed)/"
    r"|(?:pmid|pubmed)\s*[:=]?\s*|)0*([1-9][0-9]{0,8})/?(?:[?#]\S*)?",
    re.I,
)
_PMID_IN_TEXT = re.compile(r"(?:\bpmid\s*[:=]?\s*|pubmed\.ncbi\.nlm\.nih\.gov/)[0-9]{1,9}\b", re.I)
_OPENALEX = re.compile(
    r"(?:(?:https?://)?(?:www\.|api\.|explore\.)?openalex\.org/(?:works/)?|openalex\s*:\s*|)"
    r"(W[1-9][0-9]{3,12})/?(?:[?#]\S*)?",
    re.I,
)
_OPENALEX_IN_TEXT = re.compile(r"(?:\bopenalex\s*:\s*|openalex\.org/(?:works/)?)W[1-9][0-9]{3,12}\b", re.I)
_ISBN_LABEL = re.compile(r"(?:urn:)?isbn(?:-1[03])?\s*[:=]?\s*", re.I)
_ISBN_DASHES = re.compile(r"[\s\u2010-\u2015\u2212-]")
_ISBN_IN_TEXT = re.compile(
    r"\bisbn(?:-1[03])?\s*[:=]?\s*[0-9](?:[ \u2010-\u2015-]?[0-9]){8,11}[ \u2010-\u2015-]?[0-9X]", re.I
)
_URL_IN_TEXT = re.compile(r"\b(?:https?|ftp)://[^\s<>\"{}|\\^`]+", re.I)
_BLANK = "".join(chr(c) for c in range(0x3001) if chr(c).isspace()) + "\u200b\ufeff"
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LONGEST = 2000  # characters; no identifier is longer, and a longer address names nothing
_OPENERS = {")": "(", "]": "[", "}": "{", ">": "<"}
_ASCII_LOWER = {ord(c): ord(c) + 32 for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def normalise(scheme: str, value: str) -> Identifier | None:
    """The identifier in its one spelling, or None where `value` isn't one of `scheme`.

    The scheme may come back more exact than it was given: `10.48550/arXiv.X` is arXiv X, and a URL
    at doi.org, arxiv.org, openalex.org or PubMed is what it names. Applying it again changes nothing.
    An unknown scheme raises ValueError.

    >>> normalise("doi", "https://doi.org/10.48550/arXiv.2008.09213v2")
    Identifier(scheme='arxiv', value='2008.09213', version='v2')
    """
    if scheme not in _BY_SCHEME:
        raise ValueError(f"identifier scheme {scheme!r} is unknown; expected one of {', '.join(_BY_SCHEME)}")
    value = value.strip(_BLANK)
    if not value or _UNFIT.search(value) or (len(value) > _LONGEST and scheme != "other"):
        return None
    return _BY_SCHEME[scheme](value)


def named_by_address(value: str) -> Identifier | None:
    """The work that an address at doi.org, arxiv.org, openalex.org or PubMed names, if it is one."""
    identifier = normalise("url", value)
    return identifier if identifier is not None and identifier.scheme != "url" else None


def identifiers_in(text: str) -> tuple[Identifier, ...]:
    """Every identifier that running text names, each once, in order of appearance.

    arXiv, PMID, ISBN and OpenAlex numbers count only where the text says what they are.
    """
    found: list[tuple[int, Identifier]] = []
    taken: list[tuple[int, int]] = []
    for scheme, pattern in _IN_TEXT:
        for match in pattern.finditer(text):
            identifier = normalise(scheme, _without_trailing_punctuation(match[0]))
            if identifier is None:
                continue
            found.append((match.start(), identifier))
            taken.append(match.span())
    starts = sorted(taken)
    for match in _URL_IN_TEXT.finditer(text):
        if not _overlaps(starts, match.span()):
            identifier = normalise("url", _without_trailing_punctuation(match[0]))
            if identifier is not None:
                found.append((match.start(), identifier))
    return unique(i for _, i in sorted(found, key=lambda pair: pair[0]))


def unique(identifiers: Iterable[Identifier]) -> tuple[Identifier, ...]:
    """Each scheme and value once, in order; a version that any of them remembers is kept."""
    kept: dict[tuple[str, str], Identifier] = {}
    for identifier in identifiers:
        name = (identifier.scheme, identifier.value)
        if name not in kept or (kept[name].version is None and identifier.version is not None):
            kept[name] = identifier
    return tuple(kept.values())


def orcid(value: str) -> str | None:
    """An ORCID iD as four groups of four, or None where the check digit doesn't hold."""
    match = re.search(r"([0-9]{4})-?([0-9]{4})-?([0-9]{4})-?([0-9]{3}[0-9X])\s*/?$", value, re.I)
    if match is None:
        return None
    import idutils

    spelled = "-".join(match.groups()).upper()
    return spelled if idutils.is_orcid(spelled) else None


def _doi(value: str) -> Identifier | None:
    value = value.strip("<>\"' ") if value[:1] in "<\"'" else value
    address = _DOI_URL.match(value)
    if address is not None:  # in an address, '?' and '#' end the DOI unless they are encoded
        value = re.split(r"[?#]", value[address.end() :], maxsplit=1)[0]
        if "/doi/" in address[0].lower():
            value = re.sub(r"/(?:full|abstract|pdf|epdf|meta)$", "", value)
    else:
        label = _DOI_LABEL.match(value)
        value = value[label.end() :] if label else value
    before = None
    while value != before:  # encoded once, twice, or as HTML: to the end, so that once is enough
        before = value
        value = _without_trailing_punctuation(html.unescape(unquote(value)).strip())
    if not _DOI.fullmatch(value) or any(ord(c) < 32 or ord(c) == 0xFFFD for c in value):
        return None
    value = value.translate(_ASCII_LOWER)
    arxiv = _ARXIV_DOI.fullmatch(value)
    if arxiv is not None:
        return _arxiv(arxiv[1]) or Identifier(scheme="doi", value=value)
    return Identifier(scheme="doi", value=value)


def _arxiv(value: str) -> Identifier | None:
    arxiv_doi = _ARXIV_DOI.search(value)
    match = _ARXIV.fullmatch(_without_trailing_punctuation(arxiv_doi[1] if arxiv_doi else value))
    if match is None:
        return None
    bare = _SUBJECT_CLASS.sub("", match["id"].lower())
    version = match["version"]
    return Identifier(scheme="arxiv", value=bare, version=version.lower() if version else None)


def _pmid(value: str) -> Identifier | None:
    match = _PMID.fullmatch(value.rstrip(".,;"))
    return Identifier(scheme="pmid", value=match[1]) if match else None


def _openalex(value: str) -> Identifier | None:
    match = _OPENALEX.fullmatch(value)
    return Identifier(scheme="openalex", value=match[1].upper()) if match else None


def _isbn(value: str) -> Identifier | None:
    label = _ISBN_LABEL.match(value)
    digits = _ISBN_DASHES.sub("", value[label.end() :] if label else value).upper()
    if not digits.isascii() or len(digits) not in (10, 13):
        return None
    import idutils

    if len(digits) == 10 and idutils.is_isbn10(digits):
        core = "978" + digits[:9]
        check = (10 - sum(int(d) * (1, 3)[i % 2] for i, d in enumerate(core)) % 10) % 10
        digits = core + str(check)
    if len(digits) == 13 and digits[:3] in ("978", "979") and idutils.is_isbn13(digits):
        return Identifier(scheme="isbn", value=digits)
    return None


def _url(value: str) -> Identifier | None:
    value = value[1:-1].strip() if value[:1] == "<" and value[-1:] == ">" else value
    if re.search(r"\s", value):
        return None
    for pattern, exact in ((_DOI_URL, _doi), (_ARXIV, _arxiv), (_PMID, _pmid), (_OPENALEX, _openalex)):
        if "/" in value and "." in value and pattern.match(value):
            identifier = exact(value)
            if identifier is not None:
                return identifier
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https", "ftp") or not parts.hostname:
        return None
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower()
    if port is not None and port == {"http": 80, "https": 443, "ftp": 21}[scheme]:
        host = host.rpartition(":")[0]
    path = re.sub("%7e", "~", parts.path, flags=re.I) or "/"
    plain = urlunsplit((scheme, user + at + host.rstrip(":"), path, parts.query, parts.fragment))
    return Identifier(scheme="url", value=plain)


def _other(value: str) -> Identifier | None:
    return Identifier(scheme="other", value=re.sub(r"\s+", " ", value))


def _without_trailing_punctuation(value: str) -> str:
    """Cut what a sentence put behind an identifier, and closing brackets that nothing opened."""
    excess = {closer: value.count(closer) - value.count(opener) for closer, opener in _OPENERS.items()}
    end = len(value)
    while end:
        last = value[end - 1]
        if excess.get(last, 0) > 0:
            excess[last] -= 1
        elif last not in ".,;:!?'\"*/\u2019\u201d\u00a0 ":
            break
        end -= 1
    return value[:end]


def _overlaps(spans: list[tuple[int, int]], span: tuple[int, int]) -> bool:
    at = bisect_left(spans, (span[0], -1))
    return any(s[0] < span[1] and span[0] < s[1] for s in spans[max(0, at - 3) : at + 1])


_BY_SCHEME = {
    "doi": _doi,
    "arxiv": _arxiv,
    "pmid": _pmid,
    "openalex": _openalex,
    "isbn": _isbn,
    "url": _url,
    "other": _other,
}
_IN_TEXT = (
    ("doi", _DOI_IN_TEXT),
    ("arxiv", _ARXIV_IN_TEXT),
    ("pmid", _PMID_IN_TEXT),
    ("openalex", _OPENALEX_IN_TEXT),
    ("isbn", _ISBN_IN_TEXT),
)
