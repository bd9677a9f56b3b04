"""Adding packages: versions, names, files, and screening records that never contradict what is there."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog.store import Added, Catalog, CatalogError

Write = Callable[..., Path]
Screening = Callable[..., dict[str, Any]]


def rows(catalog: Catalog) -> dict[str, int]:
    """How many rows each table has."""
    names = catalog.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {n: catalog.connection.execute(f'SELECT count(*) FROM "{n}"').fetchone()[0] for (n,) in names}


def refused(catalog: Catalog, folder: Path, sentence: str) -> None:
    """It is refused with this sentence, and no row of any table and no stored file is left behind."""
    before, objects = rows(catalog), catalog.objects.names()
    with pytest.raises(CatalogError, match=sentence):
        catalog.add_package(folder, "tester")
    assert rows(catalog) == before
    assert catalog.objects.names() == objects
    assert catalog.audit(objects=True).problems == ()


def test_added_unchanged_and_a_new_version(catalog: Catalog, write_package: Write) -> None:
    first = write_package()
    assert catalog.add_package(first, "tester") == Added("demo-package", 1, "added", "demo", 1)
    before = rows(catalog)
    assert catalog.add_package(first, "tester") == Added("demo-package", 1, "unchanged", "demo", 1)
    assert rows(catalog) == before
    second = write_package(title="A better title")
    assert catalog.add_package(second, "tester") == Added("demo-package", 2, "new version", "demo", 2)
    # The old version stays, and adding it again changes nothing and makes no third.
    assert catalog.add_package(first, "tester") == Added("demo-package", 1, "unchanged", "demo", 1)
    assert catalog.artifact_id("demo-package") == 2
    assert catalog.artifact_id("demo-package", version=1) == 1
    assert catalog.artifact_id("demo-package", manifest_sha256="0" * 64) is None
    assert [e["action"] for e in catalog.db["events"].rows] == ["init", "add", "add"]


def test_stored_bytes_are_the_packages(catalog: Catalog, write_package: Write) -> None:
    folder = write_package()
    catalog.add_package(folder, "tester")
    file = next(catalog.db["files"].rows)
    assert catalog.objects.path(file["sha256"]).read_bytes() == (folder / "inputs.csv").read_bytes()
    # as `git hash-object` names these bytes
    assert file["git_blob_sha1"] == "7772697a32162b46340facb7256d2430f12f027e"
    manifest = next(catalog.db["manifests"].rows)
    assert manifest["content"].encode() == (folder / "manifest.json").read_bytes()


def test_a_lost_or_changed_object_comes_back(catalog: Catalog, write_package: Write, tmp_path: Path) -> None:
    folder = write_package()
    catalog.add_package(folder, "tester")
    (name,) = catalog.objects.names()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes((folder / "inputs.csv").read_bytes())
    for damage in (
        Path.unlink,
        lambda p: (p.chmod(0o644), p.write_bytes(b"forged")),
        lambda p: (p.unlink(), p.symlink_to(elsewhere)),
        lambda p: (p.unlink(), os.mkfifo(p)),
    ):
        damage(catalog.objects.path(name))
        assert not catalog.audit(objects=True).sound
        assert catalog.add_package(folder, "tester").state == "unchanged"
        assert catalog.audit(objects=True).sound


def test_a_refused_package_takes_no_stored_file_of_another_with_it(
    catalog: Catalog, write_package: Write
) -> None:
    """Not even one that was lost and that it brought back."""
    first = write_package()
    catalog.add_package(first, "tester")
    (name,) = catalog.objects.names()
    catalog.objects.path(name).unlink()
    second = write_package("another-package", screened={"raters": "none"})
    with pytest.raises(CatalogError):
        catalog.add_package(second, "tester")
    assert catalog.objects.names() == [name]


def test_a_changed_object_fails_its_verification(catalog: Catalog, write_package: Write) -> None:
    catalog.add_package(write_package(), "tester")
    (name,) = catalog.objects.names()
    path = catalog.objects.path(name)
    path.chmod(0o644)
    path.write_bytes(b"x\n1\n3\n")
    number, run = catalog.verify_artifact("demo-package", who="tester")
    assert (number, run.outcome.value, run.origin) == (1, "failed", "store")
    assert [c.outcome.value for c in run.checks if c.kind == "file"] == ["mismatch"]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda f: (f / "inputs.csv").write_text("x\n1\n3\n"), "inputs.csv: its SHA-256 is"),
        (lambda f: (f / "inputs.csv").write_text("x\n1\n"), "inputs.csv: its number of bytes is 4"),
        (lambda f: (f / "inputs.csv").unlink(), "inputs.csv: the manifest lists it, but it is not there"),
        (lambda f: (f / "more.csv").write_text("x\n"), "more.csv: the manifest doesn't list it"),
        (lambda f: (f / "manifest.json").unlink(), "has no manifest.json"),
        (lambda f: (f / "manifest.json").write_text("{"), "manifest.json"),
    ],
)
def test_a_broken_package_leaves_nothing(
    catalog: Catalog, write_package: Write, damage: Callable[[Path], Any], sentence: str
) -> None:
    folder = write_package()
    damage(folder)
    refused(catalog, folder, sentence)


def work(slug: str, title: str = "A demonstrated work", **identifiers: str) -> dict[str, Any]:
    names = [{"scheme": scheme, "value": value} for scheme, value in identifiers.items()]
    return {"id": slug, "title": title, "identifiers": names}


def test_one_namespace_of_works_and_packages(catalog: Catalog, write_package: Write) -> None:
    catalog.add_package(write_package(), "tester")
    refused(catalog, write_package("demo", work=work("other")), "'demo', which is the name of a work here")
    refused(catalog, write_package("more", work=work("demo-package")), "is the name of a package here")
    refused(
        catalog,
        write_package("demo-package", work=work("other", "Another work")),
        "package 'demo-package' is of the work 'demo' here, but this manifest is of 'other'",
    )


def test_a_work_is_known_by_its_identifiers(catalog: Catalog, write_package: Write) -> None:
    catalog.add_package(write_package("one", work=work("demo", doi="10.1000/a")), "tester")
    # Same name, an agreeing identifier and a new one: the same work, which learns the new one.
    more = work("demo", doi="10.1000/a", arxiv="2008.09213")
    assert catalog.add_package(write_package("two", work=more), "tester").work == "demo"
    # Another name for it becomes an alias.
    alias = work("known-elsewhere-as", arxiv="2008.09213")
    assert catalog.add_package(write_package("three", work=alias), "tester").work == "demo"
    assert catalog.add_package(write_package("four", work=alias), "tester").work == "demo"
    # The run calls the work as its manifest does, and its hash holds.
    catalog.verify_artifact("three", who="tester")
    assert catalog.audit().sound
    assert rows(catalog)["works"] == 1
    assert rows(catalog)["aliases"] == 1
    refused(
        catalog,
        write_package("five", work=work("demo", doi="10.1000/b")),
        "has the DOI 10.1000/b, but 'demo'",
    )
    refused(catalog, write_package("six", work=work("demo", "Something else")), "'demo' is another work here")
    catalog.add_package(write_package("seven", work=work("second", doi="10.1000/z")), "tester")
    both = work("third", doi="10.1000/z", arxiv="2008.09213")
    refused(catalog, write_package("eight", work=both), "can't be one work here: .*'second'.*'demo'")
    refused(
        catalog, write_package("nine", work=work("demo", doi="10.1000/z")), "another work has the name 'demo'"
    )


def test_a_screening_file_is_kept_once(catalog: Catalog, write_package: Write, screening: Screening) -> None:
    catalog.add_package(write_package("one", screened=screening()), "tester")
    before = rows(catalog)
    catalog.add_package(write_package("two", screened=screening()), "tester")
    after = rows(catalog)
    same = ("raters", "rounds", "votes", "statements", "model_releases", "heads", "scores")
    assert {t: after[t] for t in same} == {t: before[t] for t in same}
    assert [before[t] for t in same] == [3, 1, 3, 1, 1, 4, 4]


@pytest.mark.parametrize(
    ("part", "change", "sentence"),
    [
        (
            "votes",
            {"decision": "in_scope"},
            "vote vote-1: is here already with another decision; a correction",
        ),
        ("votes", {"reason": "Other."}, "vote vote-1: is here already with another reason"),
        ("votes", {"id": "vote-9"}, r"model-1 has voted on demo in round round-1 already \(vote-1\)"),
        ("raters", {"name": "Other"}, "rater model-1: is here already with another name"),
        ("rounds", {"panel": 4}, "round round-1: is here already with another panel"),
        ("statements", {"text": "Other."}, "statement full-frame-status: is here already with another text"),
        (
            "releases",
            {"status": "score_only:mature"},
            "release student-v0: is here already with another status",
        ),
        (
            "scores",
            {"value": "0.003"},
            "score of demo by student-v0/Codex .* is 0.002 here already, not 0.003",
        ),
        ("scores", {"value": "0.0021"}, "0.0021 has more digits than the 3 decimals"),
        ("scores", {"value": "1e999"}, "1e999 is too large to be a score"),
        ("scores", {"work": "nowhere"}, "the catalog has no work 'nowhere'; import it first"),
        ("votes", {"work": "nowhere"}, "vote vote-1: the catalog has no work 'nowhere'"),
        ("statements", {"work": "nowhere"}, "the catalog has no work 'nowhere'"),
        ("scores", {"value": "NaN"}, r"screening.json: scores\[0\].value: .*not a finite decimal"),
        ("scores", {"value": "Infinity"}, "not a finite decimal"),
        ("scores", {"value": 0.5}, "expected text, not the number 0.5"),
        ("votes", {"supersedes": "vote-1"}, "supersedes itself"),
    ],
)
def test_a_contradicting_record_is_refused_whole(
    catalog: Catalog,
    write_package: Write,
    screening: Screening,
    part: str,
    change: dict[str, Any],
    sentence: str,
) -> None:
    catalog.add_package(write_package("one", screened=screening()), "tester")
    record = screening()
    record[part][0] |= change
    refused(catalog, write_package("two", screened=record), sentence)


def test_releases_with_other_heads_are_refused(
    catalog: Catalog, write_package: Write, screening: Screening
) -> None:
    catalog.add_package(write_package("one", screened=screening()), "tester")
    record = screening()
    record["releases"][0]["heads"][0]["availability"] = "insufficient_support"
    refused(catalog, write_package("two", screened=record), "release student-v0: is here with other heads")


def test_a_correction_supersedes_and_keeps_its_predecessor(
    catalog: Catalog, write_package: Write, screening: Screening
) -> None:
    catalog.add_package(write_package("one", screened=screening()), "tester")
    record = screening()
    # Out of order, and a chain of two: vote-1 <- vote-1b <- vote-1c.
    last = record["votes"][0] | {"id": "vote-1c", "decision": "in_scope", "supersedes": "vote-1b"}
    middle = record["votes"][0] | {"id": "vote-1b", "decision": "unsure", "supersedes": "vote-1"}
    record["votes"] = [last, middle, *record["votes"]]
    catalog.add_package(write_package("two", screened=record), "tester")
    current = catalog.db.query("SELECT slug FROM votes_current ORDER BY slug")
    assert [row["slug"] for row in current] == ["vote-1c", "vote-2", "vote-3"]
    assert rows(catalog)["votes"] == 5
    # A second correction of the same vote, and one of another rater's vote, are refused.
    record["votes"].append(record["votes"][0] | {"id": "vote-1d", "supersedes": "vote-1"})
    refused(catalog, write_package("three", screened=record), "vote-1b supersedes vote-1 already")
    record["votes"][-1] |= {"supersedes": "vote-2"}
    refused(catalog, write_package("four", screened=record), "isn't of the same rater")


def test_votes_superseding_in_a_ring_are_refused(
    catalog: Catalog, write_package: Write, screening: Screening
) -> None:
    record = screening()
    record["votes"][0]["supersedes"] = "vote-2"
    record["votes"][1] |= {"supersedes": "vote-1", "rater": "model-1"}
    refused(catalog, write_package(screened=record), "supersedes itself, by way of 2 vote")


def test_a_screening_file_that_is_no_record(catalog: Catalog, write_package: Write) -> None:
    refused(catalog, write_package(screened={"votes": 3}), "screening.json: votes")
    refused(catalog, write_package(screened={"opinions": []}), "screening.json: opinions")


def test_any_decimals_round_trip(catalog: Catalog, write_package: Write, screening: Screening) -> None:
    # 17 decimals are what a double can carry near 1; the published digits come back.
    record = screening(scores=[])
    record["releases"][0]["decimals"] = 15
    values = ["0.1", "0.123456789012345", "1", "0", "0.999999999999999"]
    names = [f"c{n}" for n in range(len(values))]
    record["releases"][0]["heads"] = [{"name": "only", "categories": names}]
    record["scores"] = [
        {"work": "demo", "release": "student-v0", "head": "only", "category": n, "value": v}
        for n, v in zip(names, values, strict=True)
    ]
    catalog.add_package(write_package(screened=record), "tester")
    from catalog import queries

    (release,) = queries.work(catalog.connection, "demo").releases
    assert [row.values[0] for row in release.rows] == [f"{float(v):.15f}" for v in values]
    assert release.rows[1].values == ("0.123456789012345",)


def test_an_interrupted_add_leaves_orphans_that_are_swept(
    catalog: Catalog, write_package: Write, screening: Screening, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = screening()
    broken["votes"][0]["work"] = "nowhere"
    refused(catalog, write_package(screened=broken), "nowhere")
    monkeypatch.setattr(catalog.objects, "discard", lambda names: None)  # as if it were killed there
    with pytest.raises(CatalogError, match="nowhere"):
        catalog.add_package(write_package(screened=broken), "tester")
    assert len(catalog.objects.names()) == 2
    assert catalog.sweep().orphans == 2
    assert catalog.objects.names() == []


def test_a_manifest_with_a_byte_order_mark_keeps_its_bytes(catalog: Catalog, write_package: Write) -> None:
    folder = write_package()
    path = folder / "manifest.json"
    path.write_bytes(json.dumps(json.loads(path.read_text()), indent=3).replace("\n", "\r\n").encode())
    catalog.add_package(folder, "tester")
    assert next(catalog.db["manifests"].rows)["content"].encode() == path.read_bytes()
    assert catalog.audit().sound
