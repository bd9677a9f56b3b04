"""Identifiers: one spelling for each, and what is none stays out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.identifiers import identifiers_in, normalise, orcid, unique
from schema.work import Identifier

SICI = "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10.1145/3341617.3326149", "10.1145/3341617.3326149"),
        ("10.1145/ABC.Def", "10.1145/abc.def"),  # DOIs ignore case; ours are lower-case
        ("https://doi.org/10.1000/xyz", "10.1000/xyz"),
        ("http://dx.doi.org/10.1000/xyz", "10.1000/xyz"),
        ("dx.doi.org/10.1000/xyz", "10.1000/xyz"),
        ("DOI: 10.1000/xyz", "10.1000/xyz"),
        ("doi:10.1000/xyz.", "10.1000/xyz"),  # a sentence ended here
        ("info:doi/10.1000/xyz", "10.1000/xyz"),
        ("https://doi.org/doi:10.1000/xyz", "10.1000/xyz"),
        ("<https://doi.org/10.1000/xyz>", "10.1000/xyz"),
        ("10.1000/xyz%20", "10.1000/xyz"),  # idutils keeps this blank
        ("10.1000/x%2520", "10.1000/x"),  # encoded twice
        ("10.1000/a(b)c)", "10.1000/a(b)c"),  # only the bracket that nothing opened goes
        ("10.1000/x?y=1", "10.1000/x?y=1"),  # bare: '?' is a character of the DOI
        ("https://doi.org/10.1000/x?y=1#z", "10.1000/x"),  # address: it begins the query
        ("https://dl.acm.org/doi/abs/10.1145/12.34", "10.1145/12.34"),
        ("https://onlinelibrary.wiley.com/doi/10.1002/abc/full", "10.1002/abc"),
        ("10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O", SICI),
        ("https://doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O", SICI),
        ("10.1002/(SICI)1097-4571(199806)49:8&lt;693::AID-ASI4&gt;3.0.CO;2-O", SICI),
    ],
)
def test_doi_has_one_spelling(value: str, expected: str) -> None:
    assert Identifier(scheme="doi", value=expected) == normalise("doi", value)


@pytest.mark.parametrize(
    ("scheme", "value"),
    [
        ("doi", "n/a"),
        ("doi", "10.1000"),
        ("doi", "10.1000/"),
        ("doi", "10.1000/a b"),  # cutting at the blank would name another work
        ("doi", "see 10.1000/x and 10.1000/y"),
        ("doi", ""),
        ("arxiv", "2013.99999"),  # there is no month 13
        ("arxiv", "foo/1234567"),
        ("pmid", "PMC1234567"),  # PubMed Central numbers are others
        ("pmid", "0"),
        ("openalex", "A5023888391"),  # a person
        ("isbn", "978-0-306-40615-8"),  # check digit
        ("isbn", "4006381333931"),  # EAN of a pencil
        ("url", "example.org"),
        ("url", "javascript:alert(1)"),
        ("url", "https://a b"),
        ("url", "http://[::1"),
        ("other", " \ufeff "),
        ("url", "https://example.org/\x00"),
        ("other", "\ud800"),
    ],
)
def test_what_is_no_identifier_is_none(scheme: str, value: str) -> None:
    assert normalise(scheme, value) is None


@pytest.mark.parametrize(
    ("scheme", "value", "expected", "version"),
    [
        ("arxiv", "2008.09213", "2008.09213", None),
        ("arxiv", "arXiv:2008.09213v2", "2008.09213", "v2"),
        ("arxiv", "arXiv:2008.09213v1 [cs.DC]", "2008.09213", "v1"),
        ("arxiv", "https://arxiv.org/abs/2008.09213v2", "2008.09213", "v2"),
        ("arxiv", "http://export.arxiv.org/pdf/2008.09213.pdf", "2008.09213", None),
        ("arxiv", "cs/2008.09213", "2008.09213", None),
        ("arxiv", "math.GT/0309136", "math/0309136", None),  # the subject class isn't part of the name
        ("arxiv", "hep-th/9901001v3", "hep-th/9901001", "v3"),
        ("arxiv", "HEP-TH/9901001", "hep-th/9901001", None),
        ("doi", "10.48550/arXiv.2008.09213", "2008.09213", None),
        ("doi", "https://doi.org/10.48550/ARXIV.2008.09213v1", "2008.09213", "v1"),
        ("doi", "10.48550/arXiv.hep-th/9901001", "hep-th/9901001", None),
        ("url", "https://arxiv.org/pdf/2008.09213v3", "2008.09213", "v3"),
    ],
)
def test_arxiv_is_one_paper_and_remembers_the_version(
    scheme: str, value: str, expected: str, version: str | None
) -> None:
    assert Identifier(scheme="arxiv", value=expected, version=version) == normalise(scheme, value)


@pytest.mark.parametrize(
    ("scheme", "value", "expected"),
    [
        ("pmid", "PMID: 012345", ("pmid", "12345")),
        ("pmid", "https://pubmed.ncbi.nlm.nih.gov/12345/", ("pmid", "12345")),
        ("url", "https://www.ncbi.nlm.nih.gov/pubmed/12345", ("pmid", "12345")),
        ("openalex", "w2741809807", ("openalex", "W2741809807")),
        ("openalex", "https://api.openalex.org/works/W2741809807", ("openalex", "W2741809807")),
        ("url", "https://openalex.org/W2741809807", ("openalex", "W2741809807")),
        ("isbn", "0-306-40615-2", ("isbn", "9780306406157")),  # 978030640615 has check digit 7
        ("isbn", "ISBN 978‑0‑306‑40615‑7", ("isbn", "9780306406157")),  # with U+2011 hyphens
        ("isbn", "080442957X", ("isbn", "9780804429573")),
        ("url", "HTTPS://Example.ORG:443/%7Ejoe/A~b?q=A#f", ("url", "https://example.org/~joe/A~b?q=A#f")),
        ("url", "http://example.org", ("url", "http://example.org/")),
        ("url", "https://doi.org/10.1000/X", ("doi", "10.1000/x")),
        ("other", "  ACL   W12-34 ", ("other", "ACL W12-34")),
    ],
)
def test_others(scheme: str, value: str, expected: tuple[str, str]) -> None:
    found = normalise(scheme, value)
    assert found is not None
    assert expected == (found.scheme, found.value)


def test_unknown_scheme_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="expected one of doi, arxiv"):
        normalise("issn", "1234-5678")


def test_identifiers_in_text_come_once_in_order() -> None:
    text = (
        "arXiv preprint arXiv:2008.09213v1 (see https://doi.org/10.1145/1.2), doi:10.1145/1.2; PMID: 99. "
        '<a href="https://doi.org/10.1000/q">q</a></p> ISBN 978-0-306-40615-7, https://x.org/~a/b. '
        "Not 2008.09214 nor 12345, but 10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O."
    )
    expected = [
        ("arxiv", "2008.09213"),
        ("doi", "10.1145/1.2"),
        ("pmid", "99"),
        ("doi", "10.1000/q"),
        ("isbn", "9780306406157"),
        ("url", "https://x.org/~a/b"),
        ("doi", SICI),
    ]
    assert expected == [(i.scheme, i.value) for i in identifiers_in(text)]


def test_unique_keeps_the_version_that_any_remembers() -> None:
    bare, second = normalise("arxiv", "2008.09213"), normalise("arxiv", "2008.09213v2")
    assert bare is not None
    assert second is not None
    assert (second,) == unique([bare, second])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://orcid.org/0000-0002-1825-0097", "0000-0002-1825-0097"),
        ("0000000218250097", "0000-0002-1825-0097"),
        ("0000-0002-1825-0098", None),  # check digit
        ("x", None),
    ],
)
def test_orcid(value: str, expected: str | None) -> None:
    assert expected == orcid(value)


schemes = st.sampled_from(["doi", "arxiv", "pmid", "openalex", "isbn", "url", "other"])
pieces = st.sampled_from(
    [
        "10.1000/", "10.48550/arXiv.", "https://doi.org/", "doi:", "arXiv:", "2008.09213", "v2",
        "hep-th/9901001", "%20", "%25", "%3C", "<", ">", "(", ")", ".", ",", "A", "b", "~", "&lt;",
        "&amp;", "amp;", "https://arxiv.org/abs/", "http://X.org", ":80", "/doi/abs/", "/full", "?", "#",
        "PMID:", "123", "W123456", "openalex.org/", "0306406152", "978", "-", "É", "İ", "K", "％", " ",
        "\ufeff", "\xa0",
    ]
)  # fmt: skip


@given(schemes, st.one_of(st.lists(pieces, max_size=8).map("".join), st.text(max_size=60)))
def test_normalising_again_changes_nothing(scheme: str, value: str) -> None:
    once = normalise(scheme, value)
    if once is not None:
        again = normalise(once.scheme, once.value)
        assert again is not None
        assert (once.scheme, once.value) == (again.scheme, again.value)


@given(st.one_of(st.text(), st.lists(pieces, max_size=30).map(" ".join)))
def test_any_text_can_be_searched(text: str) -> None:
    found = identifiers_in(text)
    assert len({(i.scheme, i.value) for i in found}) == len(found)


@pytest.mark.parametrize(
    "unit", ["10.1000.", "a.", "https://", "10.1000/x(", "%25", "<1:", "arxiv ", "isbn 1-"]
)
def test_long_text_is_searched_in_linear_time(unit: str) -> None:
    identifiers_in(unit * 50_000)  # would take minutes if any pattern were quadratic
    normalise("doi", "10.1000/" + unit * 50_000)
