"""The flow diagram: PRISMA's boxes with the counts as they are, readable as text, the same bytes."""

import re
import struct
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from catalog.prisma import Line, Step, describe, diagram, draw, steps, to_png
from catalog.screening_pages import FlowCounts, FlowStage, SourceCount
from schema.states import Status

# identified = 120 + 30 = 150 = 20 duplicates + 5 unreadable + 125 works; 125 = 100 selected + 25 not;
# 100 = 90 screened + 10 awaiting; 90 = 12 included + 74 excluded + 4 unresolved; 74 = 50 + 24.
STAGE = FlowStage(
    round="first", title="Titles & <abstracts>", instrument="title+abstract", estimand="majority",
    votes="people and machine", statuses=(Status.HUMAN_DIRECT, Status.MACHINE_DIRECT), selected=100,
    not_selected=25, screened=90, awaiting=10, included=12, excluded=74, unresolved=4, adjudicated=3,
    reasons=(("no trial", 50), ("no adults", 24)),
)  # fmt: skip
COUNTS = FlowCounts(
    study="s", synthetic=False, sources=(SourceCount("a.ris", 120), SourceCount("b.bib", 30)),
    identified=150, duplicates=20, unreadable=5, works=125, stages=(STAGE,),
)  # fmt: skip
SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [e.text or "" for e in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_every_count_stands_in_its_box() -> None:
    said = " ".join(texts(diagram(COUNTS, "A study")))
    for words in (
        "Records identified (n = 150)", "a.ris (n = 120)", "b.bib (n = 30)", "duplicate records (n = 20)",
        "records that could not be read (n = 5)", "Records selected (n = 100)", "Not selected (n = 25)",
        "Records screened (n = 90)", "decided by an adjudicator (n = 3)", "Records excluded (n = 74)",
        "no trial (n = 50)", "no adults (n = 24)", "Awaiting votes (n = 10)",
        "Included by Titles & <abstracts> (n = 12)",
    ):  # fmt: skip
        assert words in said
    assert re.search(r"Unresolved: no decision came of the\s+votes \(n = 4\)", said)


@pytest.mark.parametrize(
    ("votes", "words"),
    [("people", "by people"), ("machine", "by machines only, unvalidated"),
     ("people and machine", "by people and machines"), ("none", "by nobody yet")],
)  # fmt: skip
def test_machine_made_decisions_are_named(votes: str, words: str) -> None:
    # PRISMA 2020, figure 1, note 2: say how many a human and how many an automation tool excluded.
    stage = replace(STAGE, votes=votes, statuses=(Status.MACHINE_DIRECT,))  # type: ignore[arg-type]
    svg = diagram(replace(COUNTS, stages=(stage,)), "A study")
    assert words in texts(svg)
    assert "status machine_direct_unvalidated" in " ".join(texts(svg))


def test_waiting_works_have_a_box_even_when_there_are_none() -> None:
    # Awaiting 0 is said, not left out: a reader must see that nobody was forgotten.
    done = replace(STAGE, screened=100, awaiting=0, included=22)
    assert "Awaiting votes (n = 0)" in texts(diagram(replace(COUNTS, stages=(done,)), "A study"))


def test_synthetic_and_unscreened_are_said() -> None:
    svg = diagram(replace(COUNTS, synthetic=True, stages=()), "A study")
    assert any(text.startswith("Synthetic") for text in texts(svg))
    assert "Nothing was screened yet" in texts(svg)


def test_title_and_description_say_it_to_who_does_not_see() -> None:
    root = ElementTree.fromstring(diagram(COUNTS, 'A "study" & <more>'))
    title, description = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert root.get("role") == "img"
    assert title is not None
    assert description is not None
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == 'A "study" & <more>: PRISMA 2020 flow'
    assert (description.text or "").startswith(describe(steps(COUNTS)))


def test_same_counts_same_bytes() -> None:
    assert diagram(COUNTS, "A") == diagram(replace(COUNTS), "A")


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right, bottom of each box of the flow."""
    found = []
    for e in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        if e.get("stroke") == "#1a1a1a":
            x, y, w, h = (float(e.get(k, "0")) for k in ("x", "y", "width", "height"))
            found.append((x, y, x + w, y + h))
    return found


@pytest.mark.parametrize("text", ["word " * 40, "x" * 300, "CAPITALS " * 30, "数" * 120, "a\x07b\ufffec"])
def test_any_text_fits_its_box_and_boxes_do_not_meet(text: str) -> None:
    line = Line(text, 7)
    svg = draw(text, [text], [Step("Screening", (line,), (line, line)), Step("Included", (line,))])
    found = boxes(svg)
    for one, box in enumerate(found):
        for other in found[one + 1 :]:
            apart = box[2] <= other[0] or other[2] <= box[0] or box[3] <= other[1] or other[3] <= box[1]
            assert apart
    # No line of a box (those without a size or weight of their own) runs over its edge. In Arial at 14 px
    # a wide character takes 14, a capital at most 10.2 on average, another at most 7.3 (its digits: 7.8).
    for e in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        if e.get("font-size") is None and e.get("font-weight") is None:
            said = e.text or ""
            assert sum(14 if ord(c) > 0x2E80 else 10.2 if c.isupper() else 7.3 for c in said) <= 340 - 24
    # Nothing of a long title is lost.
    titled = [
        e.text or "" for e in ElementTree.fromstring(svg).iter(f"{SVG}text") if e.get("font-size") == "16"
    ]
    assert "".join(titled).replace(" ", "") == "".join(c for c in text if c.isprintable() and c > " ")


def test_png_is_the_same_picture_twice_as_large() -> None:
    svg = diagram(COUNTS, "A study")
    root = ElementTree.fromstring(svg)
    png = to_png(svg)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (2 * int(root.get("width", "0")), 2 * int(root.get("height", "0")))
