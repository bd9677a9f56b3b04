import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from artifacts.errors import PackageError, StoreError
from artifacts.hashing import hash_file
from artifacts.package import open_package
from artifacts.seal import guessed_role, seal

Make = Callable[..., Path]


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("inputs/jobs.csv", "input"),
        ("data/jobs.csv", "input"),
        ("jobs.csv", "output"),
        ("outputs/trace.json", "output"),
        ("outputs/total.svg", "figure"),
        ("figure.PNG", "figure"),
        ("run.ipynb", "notebook"),
        ("inputs/prepare.py", "code"),
        ("source/page.html", "source"),
        ("README.md", "output"),
    ],
)
def test_guessed_roles(path: str, role: str) -> None:
    assert guessed_role(path) == role


def test_sealing_fills_adds_and_keeps_all_else(tmp_path: Path, draft: dict[str, Any]) -> None:
    root = tmp_path
    (root / "inputs").mkdir()
    (root / "outputs").mkdir()
    (root / "inputs/jobs.csv").write_text("id\n1\n")
    (root / "outputs/trace.json").write_text("[]")
    draft["files"] = [{"description": "kept", "path": "inputs/jobs.csv", "role": "input"}]
    (root / "manifest.json").write_text(json.dumps(draft))
    sealed = seal(root)
    assert sealed.added == (("outputs/trace.json", "output"),)
    assert (sealed.filled, sealed.corrected) == (("inputs/jobs.csv",), ())
    written = json.loads((root / "manifest.json").read_text())
    assert list(draft) == list(written)
    assert list(written["files"][0]) == ["description", "path", "role", "bytes", "sha256", "git_blob_sha1"]
    digest = hash_file(root / "inputs/jobs.csv")
    assert (digest.bytes, digest.sha256, digest.git_blob_sha1) == tuple(
        written["files"][0][name] for name in ("bytes", "sha256", "git_blob_sha1")
    )
    assert {k: v for k, v in draft.items() if k != "files"} == {
        k: v for k, v in written.items() if k != "files"
    }
    with open_package(root) as package:
        assert sealed.manifest_sha256 == package.manifest_sha256


def test_sealing_twice_changes_nothing(make_package: Make) -> None:
    root = make_package()
    before = (root / "manifest.json").read_bytes()
    assert not seal(root).changed
    assert before == (root / "manifest.json").read_bytes()


def test_a_corrected_file_is_told(make_package: Make) -> None:
    root = make_package()
    (root / "inputs/jobs.csv").write_text("id,steps\n1,5\n")
    assert seal(root).corrected == ("inputs/jobs.csv",)


def refused(root: Path) -> str:
    before = (root / "manifest.json").read_bytes() if (root / "manifest.json").exists() else None
    with pytest.raises(PackageError) as caught:
        seal(root)
    if before is not None:
        assert before == (root / "manifest.json").read_bytes()
    assert ["manifest.json"] * (before is not None) == [n for n in os.listdir(root) if "manifest" in n]
    return str(caught.value)


def test_what_cannot_be_sealed_is_left_as_it_was(
    make_package: Make, draft: dict[str, Any], tmp_path: Path
) -> None:
    root = make_package()
    (root / "inputs/jobs.csv").unlink()
    assert refused(root) == (
        "inputs/jobs.csv: is listed, but not there; add the file or remove it from `files`"
    )
    for entry, expected in {
        "../secret": "manifest.json: files[0]: '../secret' leads outside the package",
        "/etc/passwd": "manifest.json: files[0]: '/etc/passwd' leads outside the package",
    }.items():
        (root / "manifest.json").write_text(
            json.dumps({**draft, "files": [{"path": entry, "role": "input"}]})
        )
        assert refused(root) == expected
    (root / "manifest.json").write_text(json.dumps({**draft, "files": ["x"]}))
    assert refused(root) == "manifest.json: files[0]: expected an object with a `path`"
    (root / "manifest.json").write_text("{")
    assert refused(root).startswith("manifest.json line 1 column 2: not JSON: ")


def test_a_draft_with_another_mistake_is_not_written(make_package: Make, draft: dict[str, Any]) -> None:
    root = make_package()
    draft["titel"] = "x"
    (root / "manifest.json").write_text(json.dumps(draft))
    assert refused(root) == "manifest.json: titel: no such field; did you mean 'title'?"


def test_a_folder_without_a_draft(tmp_path: Path) -> None:
    assert refused(tmp_path).endswith(
        "has no manifest.json; write a draft with id, title, work and licence first"
    )


def test_a_link_is_not_sealed(make_package: Make) -> None:
    root = make_package()
    (root / "inputs/link.csv").symlink_to("jobs.csv")
    assert "inputs/link.csv: stands behind the symbolic link" in refused(root)


def test_a_disk_that_is_full(make_package: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_package()
    before = (root / "manifest.json").read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"manifest\.json can't be written: the disk is full"):
        seal(root)
    assert before == (root / "manifest.json").read_bytes()
    assert sorted(os.listdir(root)) == ["inputs", "manifest.json", "outputs"]
