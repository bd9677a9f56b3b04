"""A PRISMA 2020 flow diagram as one plain SVG: Page et al., BMJ 2021;372:n71, figure 1.

Text stays text, so that it can be searched, copied and read aloud; colours carry no meaning. The
diagram says which records a person and which a machine excluded, as the statement asks, and has a box
for what isn't decided yet: nobody's silence counts as an exclusion.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from catalog.screening_pages import FlowCounts, FlowStage

FONT = 14
LINE = 20
PAD = 12
WIDTH = 340
GAP = 60
ROW = 36
BAND = 34
MARGIN = 20
TOP = 56
LETTER = 8
WRAP = 42
"""Columns of a line of a box: 340 px less padding, 7.5 px for each of a sans-serif face at 14 px."""


@dataclass(frozen=True)
class Line:
    """One line of a box: what is counted, and how many (None: words only)."""

    text: str
    number: int | None = None
    indent: int = 0

    @property
    def words(self) -> str:
        """`Records screened (n = 1,234)`."""
        return self.text if self.number is None else f"{self.text} (n = {self.number:,})"


@dataclass(frozen=True)
class Step:
    """A box of the flow, and beside it what left the flow there or waits; `phase` is PRISMA's."""

    phase: str
    main: tuple[Line, ...]
    side: tuple[Line, ...] = ()


_BY = {
    "people": "by people",
    "machine": "by machines only, unvalidated",
    "people and machine": "by people and machines",
    "none": "by nobody yet",
}


def diagram(counts: FlowCounts, title: str) -> str:
    """The flow of a study as SVG."""
    notes = []
    if counts.synthetic:
        notes.append("Synthetic: these records and votes were made up, to try things out.")
    for stage in counts.stages:
        status = ", ".join(s.value for s in stage.statuses) or "no votes"
        notes.append(
            f"{stage.title}: {stage.instrument}, decided by {stage.estimand} of the panel where nobody "
            f"adjudicated; status {status}."
        )
    notes.append("Awaiting and unresolved works are neither included nor excluded.")
    return draw(f"{title}: PRISMA 2020 flow", notes, steps(counts))


def steps(counts: FlowCounts) -> tuple[Step, ...]:
    """The boxes of a study's flow: what came in, each round, and what each round included."""
    found = [
        Step(
            "Identification",
            (
                Line("Records identified", counts.identified),
                *(Line(source.source, source.records, 1) for source in counts.sources),
            ),
            (
                Line("Records removed before screening:"),
                Line("duplicate records", counts.duplicates, 1),
                Line("records that could not be read", counts.unreadable, 1),
            ),
        ),
    ]
    for stage in counts.stages:
        found += _stage(stage)
    included = [Line(f"Included by {stage.title}", stage.included) for stage in counts.stages]
    found.append(Step("Included", tuple(included) or (Line("Nothing was screened yet"),)))
    return tuple(found)


def _stage(stage: FlowStage) -> list[Step]:
    left = (Line("Not selected", stage.not_selected),) if stage.not_selected else ()
    screened = [Line("Records screened", stage.screened), Line(_BY[stage.votes], indent=1)]
    if stage.adjudicated:
        screened.append(Line("decided by an adjudicator", stage.adjudicated, 1))
    return [
        Step("Screening", (Line(stage.title), Line("Records selected", stage.selected)), left),
        Step(
            "Screening",
            tuple(screened),
            (
                Line("Records excluded", stage.excluded),
                *(Line(reason, number, 1) for reason, number in stage.reasons),
                Line("Unresolved: no decision came of the votes", stage.unresolved),
                Line("Awaiting votes", stage.awaiting),
            ),
        ),
    ]


def draw(title: str, notes: Sequence[str], steps: Sequence[Step]) -> str:
    """The diagram of these steps, from top to bottom, with notes beneath it. The same steps give the
    same bytes."""
    body: list[str] = []
    heading = _wrapped(title, 2 * WRAP)
    y = TOP + LINE * (len(heading) - 1)
    bands: list[tuple[str, int, int]] = []
    left, right = MARGIN + BAND + 16, MARGIN + BAND + 16 + WIDTH + GAP
    for number, step in enumerate(steps):
        main, side = _fold(step.main), _fold(step.side)
        main_height, height = _height(main), max(_height(main), _height(side) if side else 0)
        if sum(other.phase == step.phase for other in steps) == 1:
            height = max(height, LETTER * len(step.phase) + PAD)  # the phase's name stands along its band
        middle = y + min(main_height, _height(side) if side else main_height) // 2
        body.append(_box(left, y, main))
        if side:
            body.append(_box(right, y, side))
            body.append(_arrow(left + WIDTH, middle, right, middle))
        if number + 1 < len(steps):
            body.append(_arrow(left + WIDTH // 2, y + main_height, left + WIDTH // 2, y + height + ROW))
        if bands and bands[-1][0] == step.phase:
            bands[-1] = (step.phase, bands[-1][1], y + height)
        else:
            bands.append((step.phase, y, y + height))
        y += height + ROW
    body += [_band(*band) for band in bands]
    width = right + WIDTH + MARGIN
    for note in notes:
        for piece in _wrapped(note, 2 * WRAP + 12):
            body.append(_text(left, y, piece, size=FONT - 2))
            y += LINE
        y += 4
    height = y + MARGIN
    titles = [
        _text(left, MARGIN + FONT + n * LINE, line, bold=True, size=FONT + 2)
        for n, line in enumerate(heading)
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="flow-title flow-desc" '
        f'font-family="Arial, Helvetica, sans-serif" font-size="{FONT}" fill="#1a1a1a">\n'
        f'<title id="flow-title">{escape(_sound(title))}</title>\n'
        f'<desc id="flow-desc">{escape(_sound(describe(steps, notes)))}</desc>\n'
        '<defs><marker id="arrow" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
        '<path d="M0,0 L9,4 L0,8 z" fill="#1a1a1a"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n'
        + "\n".join([*titles, *body])
        + "\n</svg>\n"
    )


def describe(steps: Sequence[Step], notes: Sequence[str] = ()) -> str:
    """The diagram in words, for who doesn't see it."""
    said = []
    for step in steps:
        sentence = f"{step.phase}: {_joined(step.main)}"
        said.append(f"{sentence}; beside it: {_joined(step.side)}." if step.side else f"{sentence}.")
    return " ".join([*said, *notes])


def to_png(svg: str) -> bytes:
    """The same picture as PNG at twice its size."""
    import vl_convert

    return bytes(vl_convert.svg_to_png(svg, scale=2))


def _joined(lines: Iterable[Line]) -> str:
    return ", ".join(line.words for line in lines)


def _fold(lines: Sequence[Line]) -> list[tuple[int, str]]:
    """Indent and text of each printed line."""
    return [(line.indent, piece) for line in lines for piece in _wrapped(line.words, WRAP - 2 * line.indent)]


def _wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` columns."""
    lines: list[str] = []
    current = ""
    for word in _sound(text).split():
        while _columns(word) > width:
            cut = next(i for i in range(len(word), 0, -1) if _columns(word[:i]) <= width)
            lines += [current] if current else []
            lines.append(word[:cut])
            current, word = "", word[cut:]
        if current and _columns(current) + 1 + _columns(word) > width:
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}".strip()
    return [*lines, current] if current or not lines else lines


def _columns(text: str) -> float:
    """How much room a text takes: a capital more than a small letter, a wide character two columns."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1.4 if c.isupper() else 1 for c in text)


def _sound(text: str) -> str:
    """Without the characters that XML can't hold."""
    return "".join(c if c >= " " and c not in "\ufffe\uffff" else " " for c in text)


def _height(lines: Sequence[tuple[int, str]]) -> int:
    return len(lines) * LINE + 2 * PAD - 4


def _box(x: int, y: int, lines: Sequence[tuple[int, str]]) -> str:
    frame = (
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{_height(lines)}" fill="#ffffff" '
        'stroke="#1a1a1a" stroke-width="1.2"/>'
    )
    texts = [
        _text(x + PAD + 14 * indent, y + PAD + FONT + n * LINE - 2, piece)
        for n, (indent, piece) in enumerate(lines)
    ]
    return "\n".join([frame, *texts])


def _text(x: int, y: int, text: str, bold: bool = False, size: int | None = None) -> str:
    more = (' font-weight="bold"' if bold else "") + (f" font-size={quoteattr(str(size))}" if size else "")
    return f'<text x="{x}" y="{y}"{more}>{escape(text)}</text>'


def _arrow(x1: int, y1: int, x2: int, y2: int) -> str:
    return (
        f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#1a1a1a" stroke-width="1.2" '
        'marker-end="url(#arrow)"/>'
    )


def _band(phase: str, top: int, bottom: int) -> str:
    middle = (top + bottom) // 2
    x = MARGIN + BAND // 2
    return (
        f'<rect x="{MARGIN}" y="{top}" width="{BAND}" height="{bottom - top}" rx="6" fill="#e6eef7" '
        'stroke="#5b7ea6"/>\n'
        f'<text x="{x}" y="{middle}" transform="rotate(-90 {x} {middle})" text-anchor="middle" '
        f'dominant-baseline="central" font-weight="bold">{escape(phase)}</text>'
    )
