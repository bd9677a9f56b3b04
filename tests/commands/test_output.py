"""The layout: aligned, whole, and safe whatever a record holds."""

import json
from decimal import Decimal
from pathlib import Path

import pytest
from rich.text import Text

from catalog.commands import output, words
from catalog.commands.output import Column, Table, clean, plain, print_json, say
from schema.artifact import Tolerance
from schema.states import Depth
from schema.work import Author


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def test_numbers_stand_under_their_decimal_point(capsys: pytest.CaptureFixture[str]) -> None:
    # 2 and 12 digits before the point: the points must be in one column, also for a negative number.
    table = Table((Column("name"), Column("value", align="decimal")))
    for name, value in (("a", "7.75"), ("b", "-10.5"), ("c", "123456789012.0"), ("d", "3")):
        table.add(name, value)
    table.show()
    lines = shown(capsys)[1:]
    points = {line.index(".") for line in lines if "." in line}
    assert len(points) == 1
    assert lines[3].endswith(" 3")
    assert lines[3].index("3") == points.pop() - 1


def test_nothing_is_cut_without_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A pipe has no width: three hashes of 64 digits stay on one line, even where COLUMNS says 40.
    monkeypatch.setenv("COLUMNS", "40")
    hashes = [character * 64 for character in "abc"]
    table = Table((Column("x"), Column("y"), Column("z")))
    table.add(*hashes)
    table.show()
    say("word " * 100)
    lines = shown(capsys)
    assert lines[1] == "  ".join(hashes)
    assert len(lines) == 3


def test_empty_columns_are_left_out_and_notes_stand_beneath(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table((Column("a"), Column("never"), Column("b")))
    table.add("1", None, "2", notes=["why"])
    table.show()
    assert shown(capsys) == ["a  b", "1  2", "    why"]


def test_control_characters_are_made_visible() -> None:
    # ESC[2J would clear the reader's screen; U+202E would show "gpj.exe" for "exe.jpg".
    assert clean("a\x1b[2Jb\u202ec\nd\te") == "a\\x1b[2Jb\\u202ec d e"
    assert clean("Zoë · 数") == "Zoë · 数"


def test_say_never_lets_an_escape_through(capsys: pytest.CaptureFixture[str]) -> None:
    say("\x1b[31mred\x1b[0m", style="bold")
    table = Table((Column("t"),))
    table.add("\x07bell")
    table.show()
    assert "\x1b" not in (text := capsys.readouterr().out)
    assert "\x07" not in text


def test_json_of_records_and_states(capsys: pytest.CaptureFixture[str]) -> None:
    value = {
        "who": Author(name="Zoë"),
        "depth": Depth.HASH,
        "at": Path("a/b"),
        "n": Decimal("1.50"),
        "t": (1,),
    }
    print_json(value)
    read = json.loads(capsys.readouterr().out)
    assert read == {
        "who": {"name": "Zoë", "orcid": None},
        "depth": "hash",
        "at": "a/b",
        "n": "1.50",
        "t": [1],
    }


def test_json_refuses_nan() -> None:
    # NaN is no JSON: a reader's parser would fail on it.
    with pytest.raises(ValueError):
        print_json({"x": float("nan")})


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (None, ""),
        ("0", "0"),
        ("0E-9", "0"),
        ("-0.025", "-0.025"),
        ("1.5", "1.5"),
        ("-5.239999E-10", "-5.24e-10"),
        ("0.343137125602", "3.43e-1"),
        ("120000000", "1.20e+8"),
    ],
)
def test_differences_are_short(number: str | None, expected: str) -> None:
    # Three significant digits by the rules of rounding; the full number is in the claim's own lines and JSON.
    assert words.short(number) == expected


def test_depth_is_a_word_and_a_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    # saved < hash < re-aggregated < recomputed: none to three of three bars.
    monkeypatch.setattr(words, "glyphs", lambda: True)
    assert [words.depth(d) for d in Depth] == ["▯▯▯ saved", "▮▯▯ hash", "▮▮▯ re-aggregated", "▮▮▮ recomputed"]
    assert words.independent(Depth.RECOMPUTED) == "◆ recomputed"
    monkeypatch.setattr(words, "glyphs", lambda: False)
    assert [words.depth(d) for d in Depth] == ["--- saved", "#-- hash", "##- re-aggregated", "### recomputed"]
    assert words.independent(Depth.HASH) == "* hash"


def test_tolerances_in_words() -> None:
    assert words.tolerance(Tolerance()) == "exact"
    assert words.tolerance(Tolerance(kind="relative", value="1e-9", reason="r")) == "1e-9 relative"
    assert words.tolerance(Tolerance(kind="half_unit", reason="r")) == "half unit"


class TestOnATerminal:
    @pytest.fixture(autouse=True)
    def _terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(output, "on_terminal", lambda: True)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.delenv("NO_COLOR", raising=False)

    def table(self) -> Table:
        table = Table((Column("state"), Column("text", prose=True), Column("sha256")))
        table.add(Text("match", style="green"), "some words " * 12, "f" * 64, notes=["n" * 30])
        return table

    @pytest.mark.parametrize("width", ["40", "60", "80", "120", "200"])
    def test_no_digit_is_lost_at_any_width(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
    ) -> None:
        # Folding may move a hash to the next lines; joined without spaces all 64 digits are there.
        monkeypatch.setenv("COLUMNS", width)
        monkeypatch.setenv("NO_COLOR", "1")
        self.table().show()
        text = capsys.readouterr().out
        assert "f" * 64 in "".join(text.split())
        assert text.count("words") == 12
        assert all(len(line) <= int(width) for line in text.splitlines())

    def test_colour_unless_no_color(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        say("title", style="bold")
        assert "\x1b[" in capsys.readouterr().out
        monkeypatch.setenv("NO_COLOR", "1")
        say("title", style="bold")
        self.table().show()
        assert "\x1b" not in capsys.readouterr().out

    def test_bullets_hang(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "30")
        monkeypatch.setenv("NO_COLOR", "1")
        say("one two three four five six seven eight", indent=2, bullet="- ")
        lines = shown(capsys)
        assert lines[0].startswith("  - one")
        assert all(line.startswith("    ") for line in lines[1:])


def test_plain_leaves_json_values_alone() -> None:
    assert plain([1, "a", None, True, {"k": 2.5}]) == [1, "a", None, True, {"k": 2.5}]
