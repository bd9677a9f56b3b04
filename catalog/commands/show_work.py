"""A work's record page on a terminal, in the order in which it is read."""

from catalog.commands import words
from catalog.commands.output import Column, Table, heading, say
from catalog.commands.tables import artifacts_table, runs_table
from catalog.model_figures import calibration_words, call_meaning, maturity_words
from catalog.pages import ReleaseView, ScreenView, VoteView, WorkPage
from catalog.screening_pages import DecisionView
from schema.screening import Statement
from schema.states import Call, vote_status
from schema.work import Work

_KIND = {"model": "machine", "human": "person"}


def show_work(page: WorkPage) -> None:
    """Print the page."""
    _header(page.work)
    _bibliography(page.work)
    _abstract(page.work)
    _classification(page)
    heading("Packages")
    if page.artifacts:
        artifacts_table(page.artifacts).show()
        say(f"Numbers and their proof: proofshelf show {page.artifacts[0].slug}")
    else:
        say("No packages yet: proofshelf add FOLDER", indent=2)
    if page.runs:
        heading("Verifications")
        runs_table(page.runs).show()
    if page.appearances:
        heading("Imports that brought it")
        for seen in page.appearances:
            line = f", line {seen.line}" if seen.line else ""
            say(f"{seen.outcome} by import {seen.import_id}: {seen.filename}{line} ({seen.format}), "
                f"{words.moment(seen.finished_at)}", indent=2)  # fmt: skip


def _header(work: Work) -> None:
    say(work.title, style="bold")
    facts = [work.id, str(work.year) if work.year else None, work.type, work.language]
    say(" · ".join(f for f in facts if f))
    if work.retraction:
        say(f"RETRACTED: {work.retraction}", style="bold red")


def _bibliography(work: Work) -> None:
    heading("Bibliographic record")
    table = Table((Column(""), Column("", prose=True)), indent=2)
    names = [f"{a.name} ({a.orcid})" if a.orcid else a.name for a in work.authors]
    table.add("authors", "; ".join(names) or "none recorded")
    facts = [("venue", work.venue), *((i.scheme, i.value) for i in work.identifiers), ("note", work.note)]
    for name, value in facts:
        if value:
            table.add(name, value)
    table.show(titles=False)


def _abstract(work: Work) -> None:
    heading("Abstract")
    if work.abstract.text:
        say(work.abstract.text, indent=2)
        say(f"From: {work.abstract.source or 'a source that was not recorded'}", indent=2, style="dim")
    else:
        say("No abstract is stored.", indent=2)
    if work.abstract.note:
        say(work.abstract.note, indent=2)


def _classification(page: WorkPage) -> None:
    if not (page.screens or page.statements or page.releases or page.decisions):
        heading("Classification")
        say("No votes and no scores. No label is not a negative.", indent=2)
        return
    heading("How this classification was reached")
    for screen in page.screens:
        _screen(screen)
    if page.statements:
        say()
        say("The publisher's own statements", style="bold", indent=2)
        say("They stand beside the state above and are never merged with it.", indent=4, style="dim")
    for statement in page.statements:
        _statement(statement)
    for decisions in page.decisions:
        _calls(decisions)
    for release in page.releases:
        _release(release)
    if page.screening_caveats:
        say()
        say("Read with these data", style="bold", indent=2)
        for caveat in page.screening_caveats:
            say(caveat, indent=4, bullet="- ")


def _screen(screen: ScreenView) -> None:
    screening = screen.round
    say()
    say(f"{screening.title} ({screening.study})", style="bold", indent=2)
    _synthetic(screen.synthetic)
    say(screen.sentence, indent=4)
    say(f"State: {words.screening(screen.state)}, {screen.positives} of {screen.cast} in scope.", indent=4)
    facts = [f"instrument: {screening.instrument}", f"panel of {screening.panel}"]
    if screening.works_screened:
        facts.append(f"{screening.works_screened:,} works screened")
    if screening.frame_size:
        facts.append(f"frame of {screening.frame_size:,}")
    say(" · ".join(facts), indent=4)
    say(
        f"Source: {screening.source}" + (f" ({screening.licence})" if screening.licence else ""),
        indent=4,
        style="dim",
    )
    if screening.note:
        say(screening.note, indent=4)
    notes = {view.rater.note for view in screen.votes}
    shared = notes.pop() if len(notes) == 1 and len(screen.votes) > 1 else None
    if shared:
        say(f"Of the raters: {shared}", indent=4)
    for view in screen.votes:
        _vote(view, shared)


def _vote(view: VoteView, shared: str | None) -> None:
    vote, rater = view.vote, view.rater
    style = "magenta" if rater.kind == "model" else "blue"
    version = f" {rater.version}" if rater.version else ""
    name = f"{rater.id}, name unknown" if rater.name == "unknown" else f"{rater.name}{version}"
    categories = f": {', '.join(vote.categories)}" if vote.categories else ""
    confidence = f", confidence {vote.confidence}" if vote.confidence else ""
    decision = f"{vote.decision.replace('_', ' ')}{categories}{confidence}"
    status = vote_status(rater.kind).value
    say(f"[{_KIND[rater.kind]}] {name}: {decision} ({status})", style=style, indent=4)
    if vote.reason:
        say(f"{vote.reason} [{vote.reason_wording}]", indent=8)
    for text in (rater.note if rater.note != shared else None, vote.note):
        if text:
            say(text, indent=8, style="dim")
    for earlier in view.superseded:
        reason = f": {earlier.reason} [{earlier.reason_wording}]" if earlier.reason else ""
        say(f"superseded: {earlier.decision.replace('_', ' ')}{reason}", indent=8, style="dim")


def _statement(statement: Statement) -> None:
    say(f"{statement.about[:1].upper()}{statement.about[1:]}:", indent=4)
    say(f"{statement.text} [{statement.wording}]", indent=8)
    if statement.status:
        say(f"Status: {statement.status}", indent=8)
    say(f"{statement.publisher}. Source: {statement.source}", indent=8, style="dim")


def _synthetic(made_up: bool) -> None:
    if made_up:
        say("Synthetic: made up, to try things out.", indent=4, style="yellow")


def _calls(view: DecisionView) -> None:
    say()
    say(f"Calls of {view.release}", style="bold", indent=2)
    _synthetic(view.synthetic)
    say(f"Status: {view.status}. A call is a model's, never a label.", indent=4)
    say(f"Run {view.run} covers {view.works_covered:,} of {words.count(view.works, 'work')}.", indent=4)
    if not view.covered:
        say(f"unknown: {call_meaning(Call.UNKNOWN, 0)}.", indent=4)
        return
    table = Table((Column("category"), Column("call"), Column("means", prose=True)), indent=4)
    for row in view.calls:
        table.add(row.category, row.call.value.replace("_", " "), call_meaning(row.call, len(row.sides)))
    table.show()


def _release(view: ReleaseView) -> None:
    release = view.release
    say()
    say(release.title, style="bold", indent=2)
    _synthetic(view.synthetic)
    say(f"Status: {release.status}", indent=4)
    say(f"Maturity gate: {maturity_words(release)}; {calibration_words(release)}. "
        "A score ranks; it never asserts a label.", indent=4)  # fmt: skip
    table = Table((Column("category"), *(Column(head, align="decimal") for head in view.heads)), indent=4)
    for row in view.rows:
        table.add(row.category, *row.values)
    table.show()
    for head in release.heads:
        if head.availability not in ("available", "unknown"):
            of = f"{head.name} for {', '.join(head.categories)}"
            say(f"{of}: {head.availability.replace('_', ' ')}, so it makes no call.", indent=4)
    if release.note:
        say(release.note, indent=4)
    say(f"Source: {release.source}", indent=4, style="dim")
