"""The README and the guides show what the commands really print: their console blocks are run again here."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def transcript() -> ModuleType:
    spec = importlib.util.spec_from_file_location("transcript", ROOT / "docs" / "transcript.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["README.md", "docs/screening.md", "docs/admission.md", "docs/queueing.md"])
def test_it_shows_what_the_commands_print(transcript: ModuleType, name: str) -> None:
    shown = (ROOT / name).read_text(encoding="utf-8")
    renewed = transcript.renew(shown)
    # Line by line, so that a failure shows which command no longer prints what is shown.
    expected = transcript.normalise(shown).splitlines()
    observed = transcript.normalise(renewed).splitlines()
    assert expected == observed


def test_normalise_keeps_what_matters(transcript: ModuleType) -> None:
    # A verdict, a claim's value or an exit code that changes must be seen; a time or hash must not.
    same = transcript.normalise("verified at 2026-11-29T10:00:00Z, head 3a9e5f77aa, 7.750821275476")
    assert same == transcript.normalise("verified at 2027-01-02T11:22:33Z, head 00ff8812bb, 7.750821275512")
    assert same != transcript.normalise("verified at 2026-11-29T10:00:00Z, head 3a9e5f77aa, 7.750821285476")
    assert transcript.normalise("verified") != transcript.normalise("failed")
    # An export's hash is over times too; that of a study, a chunk or a file read is over the same bytes.
    wrote = "Wrote 30 rows of labels to labels.csv (7,435 bytes, sha256 {}a9f08c7a)."
    assert transcript.normalise(wrote.format("0")) == transcript.normalise(wrote.format("1"))
    for line in ("Recorded tea, version 1 (sha256 {}e91880aa).", "tea, version 1 · {}e91880aa · now",
                 "      1      5  {}768d20aa", "File sha256 {}ff655eca."):  # fmt: skip
        assert transcript.normalise(line.format("0")) != transcript.normalise(line.format("1"))


def test_commands_join_continued_lines(transcript: ModuleType) -> None:
    assert transcript.commands("$ a \\\n  b\noutput\n$ c\n") == ["a \\\n  b", "c"]
