"""A manifest edited in the database is nobody's claim: nothing is computed, shown or exported of it."""

import sqlite3
from collections.abc import Callable

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


def test_audit_names_it(edited: Catalog) -> None:
    sentences = [problem.sentence for problem in edited.audit().problems]
    assert "package demo-package (version 1): its manifest was edited" in sentences
