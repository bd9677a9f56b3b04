"""Imports: every record is accounted for, and what is known stays as it is."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog import queries
from catalog.imports import OUTCOMES, ImportReport
from catalog.store import Catalog, CatalogError, create


@pytest.fixture
def take_in(catalog: Catalog, tmp_path: Path) -> Callable[[str], ImportReport]:
    """Imports a file with this text."""
    number = 0

    def take(text: str) -> ImportReport:
        nonlocal number
        number += 1
        path = tmp_path / f"file-{number}.bib"
        path.write_text(text, encoding="utf-8")
        return catalog.import_file(path, "tester")

    return take


def counts(report: ImportReport) -> dict[str, int]:
    """The outcomes that occurred."""
    return {name: n for name in OUTCOMES if (n := getattr(report.counts, name))}


def entry(key: str, **fields: str) -> str:
    return f"@article{{{key}, " + ", ".join(f"{name} = {{{value}}}" for name, value in fields.items()) + "}\n"


def test_each_outcome(catalog: Catalog, take_in: Callable[[str], ImportReport]) -> None:
    first = take_in(
        entry("a", title="Alpha and omega", doi="10.1000/A", author="Doe, Jane")
        + entry("b", title="Beta without any identifier", year="2001")
        + entry("c", author="Nobody")
    )
    assert counts(first) == {"added": 2, "rejected": 1}
    assert first.rejected[0].line == 3
    second = take_in(
        entry(
            "x", title="Alpha and omega", doi="https://doi.org/10.1000/a", author="Doe, Jane"
        )  # nothing new
        + entry("y", title="Alpha and Omega!", doi="10.1000/a", abstract="It ends.", pmid="12345")  # fills in
        + entry("z", title="Alpha, revised", doi="10.1000/a", year="1999")  # differs, so it changes nothing
        + entry("b", title="Beta without any identifier", year="2001")  # the same record
        + entry("b", title="Beta without any identifier", year="2001")  # and again
    )
    assert counts(second) == {"updated": 1, "unchanged": 3, "duplicate": 1}
    page = queries.work(catalog.connection, first.works[0])
    assert page.work.abstract.text == "It ends."
    assert page.work.title == "Alpha and omega"
    assert page.work.year is None
    assert [a.outcome for a in page.appearances if a.import_id == 2] == ["unchanged", "updated", "duplicate"]
    evidence = catalog.db.query("SELECT evidence FROM import_records WHERE import_id = 2 ORDER BY position")
    assert "both are doi 10.1000/a" in next(iter(evidence))["evidence"]
    # What was filled in is found by search, and what stood there before still is.
    assert [w.slug for w in queries.search(catalog.connection, "ends")[1]] == [page.work.id]
    assert [w.slug for w in queries.search(catalog.connection, "alpha")[1]] == [page.work.id]


def test_the_same_file_again_changes_no_work(
    catalog: Catalog, take_in: Callable[[str], ImportReport]
) -> None:
    text = "".join(entry(f"k{n}", title=f"Title {n}", year=str(1990 + n)) for n in range(20))
    assert counts(take_in(text)) == {"added": 20}
    dump = [tuple(r) for r in catalog.connection.execute("SELECT * FROM works")]
    assert counts(take_in(text)) == {"unchanged": 20}
    assert counts(take_in(text + entry("new", title="New"))) == {"unchanged": 20, "added": 1}
    assert [tuple(r) for r in catalog.connection.execute("SELECT * FROM works WHERE id <= 20")] == dump
    # Each record's text is kept once.
    assert catalog.db["raw_records"].count == 21


def test_a_record_that_names_two_works_is_rejected_with_the_reason(
    catalog: Catalog, take_in: Callable[[str], ImportReport]
) -> None:
    take_in(
        entry("a", title="One", doi="10.1000/one")
        + entry("b", title="Two", eprint="2008.09213", archiveprefix="arXiv")
    )
    report = take_in(entry("c", title="One", doi="10.1000/one", eprint="2008.09213", archiveprefix="arXiv"))
    assert counts(report) == {"rejected": 1}
    assert "its identifiers are those of 2 works here" in report.rejected[0].reason


def test_another_doi_isnt_added_to_a_work(catalog: Catalog, take_in: Callable[[str], ImportReport]) -> None:
    # Preprint and article may share an arXiv number; two DOIs of one work would make them one for ever.
    arxiv = {"eprint": "2008.09213", "archiveprefix": "arXiv"}
    take_in(entry("a", title="One", doi="10.1000/one", **arxiv))
    assert counts(take_in(entry("b", title="One", doi="10.1000/other", **arxiv))) == {"duplicate": 1}
    assert catalog.db["identifiers"].count == 2
    evidence = next(catalog.db.query("SELECT evidence FROM import_records WHERE import_id = 2"))["evidence"]
    assert "its doi 10.1000/other is not the work's 10.1000/one" in evidence


def test_a_retraction_reaches_a_known_work(catalog: Catalog, tmp_path: Path) -> None:
    from catalog.imports import add_records
    from ingest.readers import Parsed, Reading
    from schema.work import Identifier, Work

    doi = (Identifier(scheme="doi", value="10.1000/r"),)
    for text in (None, "Retracted 2026-01-01."):
        work = Work(title="A paper", identifiers=doi, retraction=text)
        record = Parsed(work=work, raw=str(text), line=1, key="r")
        reading = Reading("r", "test", "test", "1", "0" * 64, (), iter([record]))
        with catalog.write() as db:
            add_records(db, reading, "tester")
    (summary,) = queries.works(catalog.connection)
    assert queries.work(catalog.connection, summary.slug).work.retraction == "Retracted 2026-01-01."


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7", b"\x00\x01", b"no bibliography at all"])
def test_a_file_that_cant_be_read_leaves_nothing(catalog: Catalog, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "some.bib"
    path.write_bytes(content)
    with pytest.raises(CatalogError, match=r"some\.bib"):
        catalog.import_file(path, "tester")
    with pytest.raises(CatalogError, match="nowhere"):
        catalog.import_file(tmp_path / "nowhere.bib", "tester")
    assert catalog.db["imports"].count == 0


def test_an_interrupted_import_leaves_nothing(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "some.bib"
    path.write_text("".join(entry(f"k{n}", title=f"Title {n}") for n in range(1200)), encoding="utf-8")

    def interrupt(read: int) -> None:
        if read >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catalog.import_file(path, "tester", interrupt)
    for table in ("works", "slugs", "imports", "import_records", "raw_records", "authors"):
        assert catalog.db[table].count == 0
    assert queries.search(catalog.connection, "title")[0] == 0
    told: list[int] = []
    assert catalog.import_file(path, "tester", told.append).counts.added == 1200
    assert told == [500, 1000, 1200]
    assert queries.search(catalog.connection, "title")[0] == 1200


MANY = int(os.environ.get("PROOFSHELF_TEST_RECORDS", "5000"))
TITLES = st.sampled_from(["Alpha", "Beta", "Gamma", "", "Same title"])
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"title": TITLES},
        optional={
            "DOI": st.sampled_from(["10.1000/a", "10.1000/b", "10.1000/C", "not a doi"]),
            "PMID": st.sampled_from(["1", "2"]),
            "ISBN": st.sampled_from(["9780306406157"]),
            "type": st.sampled_from(["book", "chapter", "article-journal"]),
            "abstract": st.sampled_from(["One.", "Two."]),
        },
    ),
    max_size=12,
)


@settings(max_examples=40)
@given(files=st.lists(RECORDS, min_size=1, max_size=3))
def test_counts_always_add_up(
    tmp_path_factory: pytest.TempPathFactory, files: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("property")
    with create(folder / "shelf.db") as catalog:
        for records in files:
            path = folder / "some.json"
            path.write_text(
                json.dumps([{"id": str(n), **r} for n, r in enumerate(records)]), encoding="utf-8"
            )
            try:
                first, again = catalog.import_file(path), catalog.import_file(path)
            except CatalogError:
                assert not records
                continue
            # Schema's Import refuses counts that don't add up; what was read is what was there.
            assert first.counts.read == again.counts.read == len(records)
            assert again.counts.unchanged == len(records) - first.counts.rejected
            assert again.counts.rejected == first.counts.rejected
        n_works = catalog.db["works"].count
        assert n_works == sum(r["added"] for r in catalog.db["imports"].rows)
        assert catalog.db["rejected"].count == sum(r["rejected"] for r in catalog.db["imports"].rows)
        indexed = catalog.connection.execute("SELECT count(*) FROM works_fts_docsize").fetchone()[0]
        assert indexed == n_works
        # FTS5 compares its index with the works that it indexes, word for word.
        catalog.connection.execute("INSERT INTO works_fts(works_fts, rank) VALUES ('integrity-check', 1)")
        assert catalog.audit().sound


def test_thousands_of_records(catalog: Catalog, tmp_path: Path) -> None:
    # A third of the records would all like the same name; searching for a free one must not be quadratic.
    records = [
        {
            "id": f"r{n}",
            "type": "article-journal",
            "title": "Introduction" if n % 3 == 0 else f"Heterogeneity in clusters, part {n} of many",
            "author": [{"family": f"Author{n % 500}", "given": "A."}],
            "issued": {"date-parts": [[1990 + n % 30]]},
            "abstract": f"Record {n} says something about scheduling and fairness.",
            **({"DOI": f"10.1000/x{n}"} if n % 2 else {}),
        }
        for n in range(MANY)
    ]
    path = tmp_path / "many.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    assert catalog.import_file(path, "tester").counts.added == MANY
    assert queries.search(catalog.connection, "record fairness 4999")[0] == 1
    assert queries.overview(catalog.connection).works == MANY
    assert len(queries.works(catalog.connection, limit=100, offset=MANY - 50)) == 50


def test_a_record_costs_the_same_in_a_large_catalog(catalog: Catalog, tmp_path: Path) -> None:
    # Counted in steps of SQLite's virtual machine, which repeat: 100 records into a catalog of 100 works,
    # and into one of 2,000. A search without an index in it makes the second count several times the first.
    def imported(first: int, last: int) -> int:
        path = tmp_path / f"{first}.bib"
        path.write_text(
            "".join(
                entry(f"k{n}", title=f"Part {n} of many", doi=f"10.1000/x{n}", author=f"Author{n}, A.")
                for n in range(first, last)
            )
        )
        ticks = 0

        def tick() -> None:
            nonlocal ticks
            ticks += 1

        catalog.connection.set_progress_handler(tick, 100)
        assert catalog.import_file(path, "tester").counts.added == last - first
        catalog.connection.set_progress_handler(None, 0)
        return ticks

    imported(0, 100)
    small = imported(100, 200)
    imported(200, 2000)
    assert imported(2000, 2100) < 1.2 * small


def test_two_works_that_an_index_gives_one_pmid_stay_two(catalog: Catalog, shared: Path) -> None:
    """OpenAlex gives W2113259481 and W4251833922 one PMID; their DOIs and W numbers tell them apart."""
    folder = shared / "data/screening/synergy/Nelson_2002"
    report = catalog.import_file(folder / "works_1.zip", "tester")
    # labels.csv lists 366 records; one work has no title, which no catalog can take in.
    assert counts(report) == {"added": 365, "rejected": 1}
    notes = [
        row[0] for row in catalog.connection.execute("SELECT notes FROM import_records WHERE notes != '[]'")
    ]
    assert [n for n in notes if "pmid 12090863 is left out" in n]
    assert queries.overview(catalog.connection).works == 365
