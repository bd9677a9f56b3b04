"""Labels from elsewhere: into a round of their own, by rows whose work is known for sure."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog import screening_queries as queries
from catalog.ballots import Published
from catalog.store import Catalog, CatalogError
from schema.states import ScreeningState, Status

HUMAN = Published(
    study="elsewhere", title="A review", source="a repository", rater="reviewers", name="Its authors",
    kind="human",
)  # fmt: skip


@pytest.fixture
def labels(tmp_path: Path) -> Callable[..., Path]:
    """Writes a table of labels."""

    def write(*rows: str, header: str = "doi,label_included") -> Path:
        path = tmp_path / "labels.csv"
        path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
        return path

    return write


def decisions(catalog: Catalog) -> dict[str, str]:
    rows = queries.vote_rows(catalog.connection, "elsewhere")
    return {row.work: row.decision for row in rows if row.superseded_by is None}


def slug(catalog: Catalog, n: int) -> str:
    row = catalog.connection.execute(
        "SELECT w.slug FROM identifiers i JOIN works w ON w.id = i.work_id WHERE i.value = ?",
        [f"10.1000/w{n}"],
    ).fetchone()
    return str(row[0])


def test_included_excluded_and_unknown(shelf: Catalog, labels: Callable[..., Path]) -> None:
    path = labels("10.1000/w0,1", "10.1000/w1,0", "10.1000/w2,", "10.1000/w3,maybe", "10.1000/none,1")
    report = shelf.import_votes(path, published=HUMAN, who="t")
    assert (report.round, report.read, report.taken, report.refused) == ("elsewhere", 5, 4, 1)
    assert report.problems == (
        "labels.csv line 6: the catalog has no work with the doi 10.1000/none; import it first",
    )
    assert decisions(shelf) == {
        slug(shelf, 0): "in_scope", slug(shelf, 1): "out_of_scope",
        slug(shelf, 2): "unsure", slug(shelf, 3): "unsure",
    }  # fmt: skip
    # An unknown label is unknown, and not a negative.
    state = {row.work: row.state for row in queries.label_rows(shelf.connection, "elsewhere") if row.category}
    assert [state[slug(shelf, n)] for n in range(4)] == [
        ScreeningState.AGREED_POSITIVE, ScreeningState.AGREED_NEGATIVE,
        ScreeningState.UNKNOWN, ScreeningState.UNKNOWN,
    ]  # fmt: skip
    view = queries.round_view(shelf.connection, "elsewhere")
    assert (view.round.origin, view.round.categories, view.works) == ("published", ("include",), 4)
    (kept,) = queries.answers(shelf.connection, "elsewhere")
    assert (kept.state, kept.line, kept.chunk) == ("quarantined", 6, None)
    assert "10.1000/none" in (kept.raw or "")


@pytest.mark.parametrize(
    ("kind", "status"), [("human", Status.HUMAN_DIRECT), ("model", Status.MACHINE_DIRECT)]
)
def test_a_label_is_whose_it_is_said_to_be(
    shelf: Catalog, labels: Callable[..., Path], kind: Any, status: Status
) -> None:
    published = Published(**{**vars(HUMAN), "kind": kind})
    shelf.import_votes(labels("10.1000/w0,1"), published=published, who="t")
    (vote,) = queries.vote_rows(shelf.connection, "elsewhere")
    assert (vote.rater_kind, vote.status) == (kind, status)
    # And it stays so: the same rater can't come back as another kind.
    other = Published(**{**vars(HUMAN), "kind": {"human": "model", "model": "human"}[kind]})
    with pytest.raises(CatalogError, match="rater reviewers: is here already with another kind"):
        shelf.import_votes(labels("10.1000/w0,1"), published=other, who="t")


def counts(catalog: Catalog) -> list[int]:
    tables = ("votes", "answers", "rounds")
    return [catalog.connection.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables]


def test_the_same_file_again_changes_nothing(shelf: Catalog, labels: Callable[..., Path]) -> None:
    path = labels("10.1000/w0,1", "10.1000/w1,0", "10.1000/none,1", "10.1000/w4,perhaps")
    shelf.import_votes(path, published=HUMAN, who="t")
    rows = counts(shelf)
    again = shelf.import_votes(path, published=HUMAN, who="t")
    assert (again.taken, again.unchanged, again.refused) == (0, 2, 2)
    assert counts(shelf) == rows


def test_another_label_is_a_correction_or_refused(shelf: Catalog, labels: Callable[..., Path]) -> None:
    shelf.import_votes(labels("10.1000/w0,1"), published=HUMAN, who="t")
    refused = shelf.import_votes(labels("10.1000/w0,0"), published=HUMAN, who="t")
    assert refused.refused == 1
    assert "reviewers called" in refused.problems[0]
    assert "a correction says why" in refused.problems[0]
    taken = shelf.import_votes(labels("10.1000/w0,0"), published=HUMAN, supersede="second release", who="t")
    assert taken.taken == 1
    first, second = queries.vote_rows(shelf.connection, "elsewhere")
    assert (first.decision, first.superseded_by) == ("in_scope", second.vote)
    assert (second.decision, second.note) == ("out_of_scope", "second release")


def test_two_rows_of_one_work_that_differ_are_both_refused(
    shelf: Catalog, labels: Callable[..., Path]
) -> None:
    # The DOI and the catalog's own name are of one work, which the file can't know.
    work = slug(shelf, 0)
    rows = ("10.1000/w0,,1", f",{work},0", "10.1000/w1,,1", f",{slug(shelf, 1)},1")
    report = shelf.import_votes(labels(*rows, header="doi,work,label_included"), published=HUMAN, who="t")
    assert (report.taken, report.unchanged, report.refused) == (1, 1, 2)
    assert f"{work} has labels that differ: '1' in line 2, '0' in line 3" in report.problems[0]
    assert decisions(shelf) == {slug(shelf, 1): "in_scope"}


def test_a_table_that_was_imported_names_its_works_by_its_lines(catalog: Catalog, tmp_path: Path) -> None:
    """Sets such as Kitchenham's have no identifier: only a number that means something in their own file."""
    path = tmp_path / "set.csv"
    path.write_text(
        "record_id,title,abstract,label_included\n1,A matter of numbers,Text.,1\n2,Another matter,Text.,0\n"
        "3,A third matter,Text.,1\n",
        encoding="utf-8",
    )
    catalog.import_file(path, "t")
    report = catalog.import_votes(path, published=HUMAN, who="t")
    assert (report.taken, report.refused) == (3, 0)
    titles = dict(catalog.connection.execute("SELECT slug, title FROM works"))
    assert {titles[work]: decision for work, decision in decisions(catalog).items()} == {
        "A matter of numbers": "in_scope", "Another matter": "out_of_scope", "A third matter": "in_scope",
    }  # fmt: skip


def test_a_long_reason_says_that_it_is_cut(shelf: Catalog, labels: Callable[..., Path]) -> None:
    path = labels(f"10.1000/w0,0,{'x' * 500}", header="doi,label_included,exclusion_reason")
    shelf.import_votes(path, published=HUMAN, who="t")
    (vote,) = queries.vote_rows(shelf.connection, "elsewhere")
    assert vote.reason == "x" * 399 + "…"
    assert vote.note == "its reason is cut here; the file has all of it"


def test_a_round_of_another_study_is_left_alone(studied: Catalog, labels: Callable[..., Path]) -> None:
    with pytest.raises(CatalogError, match="round screen: is here already with another study"):
        studied.import_votes(
            labels("10.1000/w0,1"), published=Published(**{**vars(HUMAN), "round": "screen"}), who="t"
        )


@pytest.mark.parametrize(
    ("name", "records", "included"), [("Kitchenham_2010", 1704, 45), ("Nagtegaal_2019", 2019, 101)]
)
def test_public_sets_come_out_as_published(
    catalog: Catalog, shared: Path, name: str, records: int, included: int
) -> None:
    """Counts as asreview/systematic-review-datasets states them; one file is bibliography and labels."""
    path = shared / "data" / "screening" / f"{name}.csv.gz"
    catalog.import_file(path, "t")
    report = catalog.import_votes(path, published=HUMAN, who="t")
    assert (report.read, report.taken, report.refused) == (records, records, 0)
    (stage,) = queries.flow_counts(catalog.connection, "elsewhere").stages
    assert (stage.included, stage.excluded) == (included, records - included)
    assert (stage.votes, stage.unresolved, stage.awaiting) == ("people", 0, 0)
