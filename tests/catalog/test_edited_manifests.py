"""A manifest edited in the database is nobody's claim: nothing is computed, shown or exported of it."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog import queries
from catalog.append_only import create_triggers
from catalog.store import Catalog, CatalogError

EDITED = "the stored manifest of demo-package was edited since it was added"


@pytest.fixture
def edited(full: Catalog) -> Catalog:
    """A package whose claim says 7 by hand, with the query bent so that 7 comes out."""
    connection = sqlite3.connect(full.path)
    connection.execute("DROP TRIGGER manifests_not_changed")
    connection.execute(
        'UPDATE manifests SET content = replace(replace(content, \'"value": "3"\', \'"value": "7"\'), '
        "'sum(x)', 'sum(x) + 4')"
    )
    create_triggers(connection)
    connection.commit()
    connection.close()
    return full


def test_a_forged_claim_is_not_verified(edited: Catalog) -> None:
    with pytest.raises(CatalogError, match=EDITED):
        edited.verify_artifact("demo-package")
    assert edited.audit().runs == 1


@pytest.mark.parametrize(
    "ask",
    [
        lambda db: queries.artifact(db, "demo-package"),
        lambda db: queries.verification(db, 1),
    ],
    ids=["package", "verification"],
)
def test_a_forged_claim_is_not_shown(edited: Catalog, ask: Callable[[sqlite3.Connection], object]) -> None:
    """An old verdict would otherwise stand beside a number that it never saw."""
    with pytest.raises(queries.NotFound, match=EDITED):
        ask(edited.connection)


def test_what_was_taken_in_is_read_again_however_deep(
    catalog: Catalog, write_package: Callable[..., Path]
) -> None:
    deep: list[object] = []
    for _ in range(230):
        deep = [deep]
    analysis = {"id": "total", "kind": "query", "inputs": {"t": "inputs.csv"}, "sql": "SELECT sum(x) FROM t"}
    catalog.add_package(write_package(analyses=[analysis | {"parameters": {"deep": deep}}]))
    assert catalog.verify_artifact("demo-package")[1].outcome.value == "verified"
    assert queries.artifact(catalog.connection, "demo-package").version == 1
    assert (catalog.audit().problems, catalog.audit().notes) == ((), ())


def test_audit_names_it(edited: Catalog) -> None:
    sentences = [problem.sentence for problem in edited.audit().problems]
    assert "package demo-package (version 1): its manifest was edited" in sentences
