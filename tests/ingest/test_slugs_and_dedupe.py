"""Names for works, and certain duplicates."""

from pathlib import Path
from runpy import run_path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ingest.dedupe import same_work
from ingest.slugs import suggest_slug
from schema.base import Slug
from schema.work import Author, Identifier, Work

works = run_path(str(Path(__file__).with_name("strategies.py")))["works"]


def work(title: str = "T", author: str = "", **fields: object) -> Work:
    return Work(title=title, authors=(Author(name=author),) if author else (), **fields)  # type: ignore[arg-type]


def named(**values: str) -> tuple[Identifier, ...]:
    return tuple(Identifier(scheme=scheme, value=value) for scheme, value in values.items())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given_work", "expected"),
    [
        (
            work("Heterogeneity-Aware Cluster Scheduling", "Deepak Narayanan", year=2020),
            "narayanan-2020-heterogeneity",
        ),
        (work("The Art of X", "Donald E. Knuth Jr"), "knuth-art"),
        (work("Über die Größe", "Jan Ørsted", year=1820), "orsted-1820-uber"),
        (work("2001: a space odyssey"), "space"),
        (work("1984"), "1984"),
        (work("A", "B"), "b-a"),
    ],
)
def test_slug(given_work: Work, expected: str) -> None:
    assert expected == suggest_slug(given_work, ())


def test_a_taken_slug_gets_a_number_then_a_hash() -> None:
    taken = {"b-a"}
    for expected in [f"b-a-{n}" for n in range(2, 10)]:
        assert expected == suggest_slug(work("A", "B"), taken)
        taken.add(expected)
    tenth = suggest_slug(work("A", "B"), taken)
    assert tenth.startswith("b-a-")
    assert len(tenth) == len("b-a-") + 8


def test_a_title_without_latin_letters_gets_a_stable_hash() -> None:
    assert suggest_slug(work("深度学习"), ()) == suggest_slug(work("深度学习"), ())
    assert suggest_slug(work("深度学习"), ()).startswith("work-")


@given(st.lists(works, max_size=8), st.text(min_size=1))
def test_slugs_are_valid_and_differ(some: list[Work], title: str) -> None:
    taken: set[str] = set()
    for one in [*some, *some, Work(title=title)]:
        slug = TypeAdapter(Slug).validate_python(suggest_slug(one, taken))
        assert slug not in taken
        taken.add(slug)


def ids(*pairs: tuple[str, str]) -> tuple[Identifier, ...]:
    return tuple(Identifier.model_validate({"scheme": s, "value": v}) for s, v in pairs)


def test_versions_of_an_arxiv_paper_and_its_doi_are_one_work() -> None:
    a = work(identifiers=(Identifier(scheme="arxiv", value="2008.09213", version="v1"),))
    b = work(identifiers=ids(("doi", "10.48550/arXiv.2008.09213")))
    found = same_work(a, b)
    assert found is not None
    assert found.evidence == "both are arxiv 2008.09213 (v1 and no version)"


def test_evidence_names_a_difference_of_titles() -> None:
    found = same_work(
        work("A b!", identifiers=ids(("doi", "10.1000/X"))), work("C", identifiers=ids(("doi", "10.1000/x")))
    )
    assert found is not None
    assert found.evidence == "both are doi 10.1000/x, though the titles differ ('A b!' and 'C')"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (work("Same"), work("Same")),  # likely is not certain
        (work(identifiers=ids(("doi", "10.1000/a"))), work(identifiers=ids(("doi", "10.1000/b")))),
        (work(identifiers=ids(("url", "https://x.org/"))), work(identifiers=ids(("url", "https://x.org/")))),
        (work(identifiers=ids(("pmid", "12"))), work(identifiers=ids(("other", "12")))),
        (
            work(type="chapter", identifiers=ids(("isbn", "9780306406157"))),
            work(type="book", identifiers=ids(("isbn", "9780306406157"))),
        ),
    ],
)
def test_nothing_certain(a: Work, b: Work) -> None:
    assert same_work(a, b) is None


@given(works, works)
def test_same_work_is_symmetric_and_holds_for_itself(a: Work, b: Work) -> None:
    assert (same_work(a, b) is None) == (same_work(b, a) is None)
    certain = any(i.scheme in ("doi", "arxiv") for i in a.identifiers)
    assert certain == (same_work(a, a) is not None)


def test_an_identifier_that_more_schemes_contradict_is_a_mistake() -> None:
    """As a public index has it: two papers, each with its DOI and its number there, and one PMID for both."""
    one = Work(title="A", identifiers=named(doi="10.1000/a", openalex="W1", pmid="12090863"))
    two = Work(title="B", identifiers=named(doi="10.1000/b", openalex="W2", pmid="12090863"))
    assert same_work(one, two) is None
    # One against one leaves it to the evidence: a correction and its paper often share a PMID.
    assert same_work(one, two.model_copy(update={"identifiers": named(doi="10.1000/b", pmid="12090863")}))
