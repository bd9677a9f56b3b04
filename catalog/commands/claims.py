"""Claims, files and caveats on a terminal: a number and its proof on one line, what fails first."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from catalog.commands import words
from catalog.commands.output import Column, Table, clean, glyphs, heading, say
from catalog.pages import ClaimView, FileView, SourceView
from schema.artifact import Manifest
from schema.states import CheckOutcome, FileState

LONG_VALUE = 32

_COLUMNS = (
    Column("outcome"),
    Column("depth"),
    Column("independent"),
    Column("claim", prose=True),
    Column("stored", align="decimal"),
    Column("computed", align="decimal"),
    Column("difference", align="right"),
    Column("tolerance"),
)

_FILE_COLUMNS = (
    Column("state"),
    Column("file", prose=True),
    Column("role"),
    Column("bytes", "right"),
    Column("sha256"),
)


def show_claims(claims: Sequence[ClaimView], explain: bool = False) -> None:
    """Print all claims, those that fail first, each on a line.

    `explain` adds what each says, where it stands, and the reason of each finding.
    """
    if not claims:
        say("No claims.")
        return
    table = Table(_COLUMNS)
    for view in _worst_first(claims):
        _add(table, view, explain)
        for finding in view.findings:
            _add(table, finding, explain)
    table.show()
    if any(view.standing.independent for view in _flat(claims)):
        diamond = "◆" if glyphs() else "*"
        say(f"{diamond} independent: a second implementation came to the value too, to the depth beside it.")


def show_files(files: Sequence[FileView], every: bool = False) -> None:
    """Print how many files match, and each that doesn't (or, with `every`, each with its hash)."""
    checked = [f for f in files if f.state is not None]
    matching = sum(f.state is FileState.MATCH for f in checked)
    if checked:
        verb = "matches" if matching == 1 else "match"
        say(f"{matching:,} of {words.count(len(files), 'file')} {verb}.")
    else:
        say(f"{words.count(len(files), 'file')}, not checked yet.")
    shown = [f for f in files if every or f.state not in (FileState.MATCH, None)]
    if not shown:
        return
    table = Table(_FILE_COLUMNS, indent=2)
    for view in sorted(shown, key=lambda f: f.state in (FileState.MATCH, None)):
        notes: list[str] = []
        if view.state is FileState.MISMATCH and view.observed_sha256:
            notes.append(f"observed sha256 {view.observed_sha256}")
        if view.detail:
            notes.append(view.detail)
        listed = view.listed
        table.add(
            _file_state(view),
            view.path,
            listed.role if listed else None,
            f"{listed.bytes:,}" if listed else None,
            listed.sha256 if listed else view.observed_sha256,
            notes=notes,
        )
    table.show()


def show_sources(sources: Sequence[SourceView]) -> None:
    """Print what became of each source, and which ones are only recorded."""
    for source in sources:
        for check in source.checks:
            recorded = check.outcome is CheckOutcome.NOT_RECOMPUTED
            outcome = "recorded" if recorded else check.outcome.value.replace("_", " ")
            what = f" ({check.pointer} of {check.observed} against {check.expected})" if check.pointer else ""
            detail = f": {check.detail}" if check.detail else ""
            say(f"{outcome}  {source.title}{what}{detail}", indent=2)
        if not source.checks:
            say(f"not checked  {source.title}", indent=2)


def show_caveats(manifest: Manifest) -> None:
    """Print what must be known before any number is read; nothing where there is nothing."""
    caveats: dict[str, list[str]] = {text: [] for text in manifest.caveats}
    for claim in manifest.claims:
        for text in claim.caveats:
            if text not in manifest.caveats:
                caveats.setdefault(text, []).append(claim.id)
    if caveats:
        heading("What these numbers are")
    for text, names in caveats.items():
        whose = ", ".join(names) if len(names) <= 3 else f"{names[0]}, {names[1]} and {len(names) - 2} more"
        say(f"{whose}: {text}" if names else text, indent=2, bullet="- ")


def _flat(claims: Sequence[ClaimView]) -> Iterator[ClaimView]:
    for view in claims:
        yield view
        yield from view.findings


def _worst_first(claims: Sequence[ClaimView]) -> list[ClaimView]:
    def rank(view: ClaimView) -> int:
        outcomes = [v.standing.outcome for v in _flat([view])]
        if any(o.denies for o in outcomes):
            return 0
        return 1 if any(o.could_not_run for o in outcomes) else 2

    return sorted(claims, key=rank)


def _file_state(view: FileView) -> Text | str:
    if view.state is None:
        return "not checked"
    return Text(view.state.value, style=words.FILE_STYLES[view.state])


def _add(table: Table, view: ClaimView, explain: bool) -> None:
    claim, standing = view.claim, view.standing
    notes: list[str | Text] = []
    stored = f"{claim.value} {claim.unit}" if claim.unit else claim.value
    computed = view.observed or ""
    if max(len(stored), len(computed)) > LONG_VALUE:
        notes.append(f"stored    {stored}")
        notes += [f"computed  {computed}"] if computed else []
        stored, computed = (
            f"({len(claim.value)} characters)",
            f"({len(computed)} characters)" if computed else "",
        )
    if standing.outcome.denies or standing.outcome.could_not_run:
        notes += _why(view)
    if explain and claim.evidence and standing.outcome is CheckOutcome.NOT_RECOMPUTED:
        notes += [check.detail for check in view.checks if check.detail]
    if explain:
        notes += [" · ".join(t for t in (claim.text, claim.locator, claim.basis) if t)]
    if explain and claim.relation is not None:
        notes.append(f"  {claim.relation.kind} {claim.relation.claim}: {claim.relation.reason}")
    table.add(
        Text(words.claim_outcome(view), style=words.outcome_style(standing.outcome)),
        words.depth(standing.depth),
        words.independent(standing.independent),
        words.subject(claim),
        stored,
        _marked(stored, computed),
        words.short(view.difference),
        words.tolerance(claim.tolerance),
        notes=notes,
    )


def _why(view: ClaimView) -> list[str | Text]:
    """What a claim that isn't confirmed needs said: the three numbers in full, and every reason."""
    claim = view.claim
    lines: list[str | Text] = []
    if view.standing.outcome.denies:
        observed = "nothing" if view.observed is None else view.observed
        parts = [f"expected {claim.value}", f"observed {observed}"]
        if view.difference:
            parts.append(f"difference {view.difference}")
        parts.append(f"tolerance {words.tolerance(claim.tolerance)} ({claim.tolerance.reason})")
        lines.append(Text(clean(", ".join(parts)), style="bold red"))
    for check in view.checks:
        if check.detail and not getattr(check.outcome, "confirms", False):
            lines.append(f"{check.analysis or 'check'}: {check.detail}")
    return lines


def _marked(stored: str, computed: str) -> Text:
    """The computed value with the digits that differ from the stored one underlined."""
    text = Text(clean(computed))
    common = next((i for i, (a, b) in enumerate(zip(stored, computed, strict=False)) if a != b), None)
    if common is None:
        common = min(len(stored.split(" ")[0]), len(computed))
    text.stylize("underline", common, len(computed))
    return text
