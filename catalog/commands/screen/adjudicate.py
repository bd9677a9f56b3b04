"""`proofshelf screen adjudicate`."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from catalog import screening_queries
from catalog.commands.errors import Refused
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import note, print_json, say
from catalog.commands.screen.form import Back, Ended, Input
from catalog.commands.screen.tables import KIND_WORDS
from catalog.commands.words import count, screening
from catalog.screening_pages import Contested, ContestedVote, RoundView
from catalog.store import Catalog
from schema.rubric import Rubric

DECISIONS = {
    "i": "in_scope", "e": "out_of_scope", "c": "insufficient_payload", "n": "unresolved",
}  # fmt: skip


@dataclass
class Session:
    """What one sitting did: the adjudications written, and how many contested works wait for one."""

    round: str
    rater: str
    written: list[str] = field(default_factory=list)
    pending: int = 0


@click.command("adjudicate")
@click.argument("round_", metavar="ROUND")
@click.option("--rater", required=True, help="An adjudicator of the round.")
@click.option("--names", is_flag=True, help="Show who cast which vote.")
@click.option("--again", is_flag=True, help="Works that have an adjudication, too.")
@click.option("--work", help="One work, without questions; with --decision.")
@click.option("--decision", type=click.Choice(list(DECISIONS.values())), help="Of --work.")
@click.option("--categories", multiple=True, metavar="ID", help="Of --work, once for each category.")
@click.option("--reason", help="Of --work.")
@database_option
@json_option
def command(
    round_: str, rater: str, names: bool, again: bool, work: str | None, decision: str | None,
    categories: tuple[str, ...], reason: str | None, db: Path, as_json: bool,
) -> None:  # fmt: skip
    """Resolve works on which the votes differ.

    One by one, with the votes and their reasons, and without the names of who cast them. Votes stay as
    they are: an adjudication stands beside them. `unresolved` is an answer, and is never filled in.

    \b
    Examples:
      proofshelf screen adjudicate pilot-screen --rater ada
      proofshelf screen adjudicate pilot-screen --rater ada --work smith-2020-trial \\
        --decision in_scope --categories trial --reason "allocation by lot"
    """
    if (work is None) != (decision is None):
        raise click.UsageError("--work and --decision go together")
    if work is None and (categories or reason is not None):
        raise click.UsageError("--categories and --reason go with --work")
    session = Session(round_, rater)
    told = Input(_to_stderr if as_json else say)
    with writing(db) as catalog:
        view = screening_queries.round_view(catalog.connection, round_)
        if view.rubric is None:
            raise Refused(f"round {round_}: its votes were published elsewhere; nobody adjudicates here")
        if work is not None and decision is not None:
            session.written.append(
                catalog.adjudicate(round_, rater, work, decision, categories, reason, who())
            )
        else:
            with suppress(Ended):
                _sit(catalog, told, session, view, view.rubric, names, again)
        session.pending = len(screening_queries.contested(catalog.connection, round_, pending=True))
    if as_json:
        print_json(session)
        return
    waiting = count(session.pending, "contested work waits", "contested works wait")
    say(f"{count(len(session.written), 'adjudication')} written; {waiting} for one.")


def _to_stderr(text: str = "", style: str | None = None, indent: int = 0, bullet: str = "") -> None:
    note(" " * indent + bullet + text)


def _sit(
    catalog: Catalog, told: Input, session: Session, view: RoundView, rubric: Rubric, names: bool, again: bool
) -> None:
    if session.rater not in {rater.id for rater in view.adjudicators}:
        given = ", ".join(rater.id for rater in view.adjudicators) or "nobody"
        raise Refused(f"{session.rater!r} is no adjudicator of round {session.round}, which has {given}")
    works = screening_queries.contested(catalog.connection, session.round, pending=not again)
    keys = {"i": "include", "e": "exclude", "n": "unresolved", "s": "skip", "q": "quit"}
    keys |= {"c": "can't be judged"} if rubric.cannot else {}
    for number, work in enumerate(works, start=1):
        _show(told, view, work, number, len(works), names)
        while True:
            key = told.key("Decision", keys)
            if key == "q":
                return
            if key == "s":
                break
            try:
                categories = _categories(told, rubric) if key == "i" else ()
            except Back:
                continue
            reason = told.line("Reason (Enter for none)").strip() or None
            if reason is not None and len(reason) > rubric.reason_max:
                told.say(f"{len(reason)} characters; at most {rubric.reason_max} are allowed")
                continue
            session.written.append(
                catalog.adjudicate(
                    session.round, session.rater, work.work, DECISIONS[key], categories, reason, who()
                )
            )
            break


def _categories(told: Input, rubric: Rubric) -> tuple[str, ...]:
    if len(rubric.topics) == 1:
        return rubric.topics
    return told.numbers("Categories", rubric.topics, 1, len(rubric.topics))


def _show(told: Input, view: RoundView, work: Contested, number: int, of: int, names: bool) -> None:
    told.say()
    told.say(f"{view.round.title} · contested {number:,} of {of:,} · {work.work}", style="dim")
    told.say(work.title, style="bold")
    if view.round.instrument != "title":
        told.say(work.abstract or "No abstract is available.", indent=2)
    told.say(f"In scope: {screening(work.scope)}.")
    for row in work.categories:
        told.say(f"{row.label}: {screening(row.state)}, {row.positives} of {row.usable} usable.", indent=2)
    for position, vote in enumerate(work.votes, start=1):
        _vote(told, position, vote, names)
    if work.adjudication is not None:
        before = work.adjudication.adjudication
        told.say(f"Adjudicated before: {before.decision.replace('_', ' ')}", style="dim")


def _vote(told: Input, position: int, vote: ContestedVote, names: bool) -> None:
    """The vote, always with its kind: a machine's is never taken for a person's."""
    kind = KIND_WORDS[vote.rater.kind]
    who_cast = f"{vote.rater.id} [{kind}]" if names else f"vote {position} [{kind}]"
    ballot = vote.ballot
    chosen = f": {', '.join(ballot.categories)}" if ballot.categories else ""
    confidence = f", confidence {ballot.confidence}" if ballot.confidence else ""
    told.say(f"{who_cast} {ballot.decision.replace('_', ' ')}{chosen}{confidence}")
    if ballot.reason:
        told.say(ballot.reason, indent=4)
