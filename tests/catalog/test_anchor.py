"""The anchor outlives its catalog: whatever it holds is a sentence, and a new catalog never overwrites it."""

from pathlib import Path

import pytest

from catalog.anchor import Head, read_head, write_head
from catalog.store import Catalog, CatalogError, create

HASH = "a" * 64


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        "[" * 100_000,
        '{"runs": 5, "last": 5, "hash": 5}',
        f'{{"runs": true, "last": false, "hash": "{HASH}"}}',
        f'{{"runs": 5, "last": -5, "hash": "{HASH}"}}',
        f'{{"runs": 5, "last": 5.0, "hash": "{HASH}"}}',
        f'{{"runs": 5, "last": 99999999999999999999999, "hash": "{HASH}"}}',
        '{"runs": 5, "last": 5, "hash": "A"}',
    ],
)
def test_an_anchor_that_holds_no_head_is_damaged(full: Catalog, content: str) -> None:
    full.head_path.write_text(content)
    with pytest.raises(CatalogError, match="is damaged; it holds no head of a chain"):
        read_head(full.head_path)
    assert not full.audit().sound
    with pytest.raises(CatalogError, match="is damaged"):
        full.verify_artifact("demo-package")


def test_an_anchor_that_cannot_be_read_says_why(full: Catalog) -> None:
    full.head_path.unlink()
    full.head_path.mkdir()
    with pytest.raises(CatalogError, match=r"can't be read: is a directory$"):
        read_head(full.head_path)


def test_a_new_catalog_does_not_cover_up_that_one_was_lost(tmp_path: Path) -> None:
    path = tmp_path / "shelf.db"
    anchor = Head(3, 3, HASH)
    write_head(tmp_path / "shelf.db.head", anchor)
    with pytest.raises(CatalogError, match="names run 3 of a catalog that was here"):
        create(path)
    assert not path.exists()
    assert read_head(tmp_path / "shelf.db.head") == anchor


def test_an_anchor_without_runs_is_in_nobodys_way(tmp_path: Path) -> None:
    create(tmp_path / "shelf.db").close()
    (tmp_path / "shelf.db").unlink()
    with create(tmp_path / "shelf.db") as again:
        assert again.audit().sound
