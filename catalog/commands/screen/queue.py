"""`proofshelf screen queue`."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

from catalog import screening_queries
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import note, print_json, say
from catalog.commands.screen.form import Back, Ended, Input, ask_ballot
from catalog.commands.words import count
from catalog.screening_pages import LastVote, QueueItem, QueuePage
from catalog.store import Catalog
from schema.ballots import Ballot
from schema.rubric import Rubric

DECISIONS = {"i": "in_scope", "e": "out_of_scope", "u": "unsure", "c": "insufficient_payload"}


@dataclass
class Session:
    """What one sitting did."""

    round: str
    rater: str
    votes: int = 0
    corrections: int = 0
    skipped: int = 0
    done: int = 0
    total: int = 0
    written: list[str] = field(default_factory=list)


@click.command("queue")
@click.argument("round_", metavar="ROUND")
@click.option("--rater", required=True, help="Who screens: a person of the round.")
@database_option
@json_option
def command(round_: str, rater: str, db: Path, as_json: bool) -> None:
    """Screen work by work, as a person.

    Shows only what the round's instrument shows, and nothing of any other rater. Keys: i include,
    e exclude, u unsure, c can't be judged (where the rubric has it), s skip to the end, b back to your
    last vote (a new one supersedes it; both are kept), q quit. Each vote is written at once. Without a
    terminal, answers are read line by line.

    \b
    Examples:
      proofshelf screen queue pilot-screen --rater ada
      proofshelf screen queue pilot-screen --rater ada --json
    """
    session = Session(round_, rater)
    told = Input(_to_stderr if as_json else say)
    with writing(db) as catalog:
        with suppress(Ended):
            _sit(catalog, told, session)
        page = screening_queries.queue_page(catalog.connection, round_, rater)
    session.done, session.total = page.done, page.total
    if as_json:
        print_json(session)
        return
    say()
    say(f"{count(session.votes, 'vote')}, {count(session.corrections, 'correction')}, "
        f"{session.skipped:,} skipped; {session.done:,} of {count(session.total, 'work')} done.")  # fmt: skip


def _to_stderr(text: str = "", style: str | None = None, indent: int = 0, bullet: str = "") -> None:
    note(" " * indent + bullet + text)


def _sit(catalog: Catalog, told: Input, session: Session) -> None:
    """Work by work until the person quits, or nothing is left."""
    while True:
        page = screening_queries.queue_page(catalog.connection, session.round, session.rater)
        if page.item is None:
            told.say()
            told.say(f"Nothing is left: {page.done:,} of {count(page.total, 'work')} done.")
            if page.last is None or told.key("Go on", {"q": "quit", "b": "back"}) == "q":
                return
            _again(catalog, told, session, page, page.last)
            continue
        _show(told, page, page.item)
        keys = _keys(page.rubric) | {"s": "skip", "b": "back", "q": "quit"}
        key = told.key("Decision", keys)
        if key == "q":
            return
        if key == "s":
            work = screening_queries.queue_work(catalog.connection, session.round, page.item.key)
            catalog.skip(session.round, session.rater, work, who())
            session.skipped += 1
        elif key == "b" and page.last is None:
            told.say("there is no vote of yours to go back to")
        elif key == "b" and page.last is not None:
            _again(catalog, told, session, page, page.last)
        else:
            session.votes += _vote(catalog, told, session, page.rubric, page.item, DECISIONS[key])


def _again(catalog: Catalog, told: Input, session: Session, page: QueuePage, last: LastVote) -> None:
    """The rater's last vote once more: another one supersedes it."""
    _show(told, page, last.item)
    told.say(f"You said: {_in_words(last.ballot)}")
    key = told.key("Decision", _keys(page.rubric) | {"b": "leave it as it is"})
    if key != "b":
        session.corrections += _vote(catalog, told, session, page.rubric, last.item, DECISIONS[key])


def _vote(
    catalog: Catalog, told: Input, session: Session, rubric: Rubric, item: QueueItem, decision: str
) -> int:
    """Ask the rest and write the vote: 1, or 0 where the person begins again."""
    work = screening_queries.queue_work(catalog.connection, session.round, item.key)
    try:
        ballot = ask_ballot(told, rubric, work, decision)
    except Back:
        return 0
    session.written.append(catalog.cast_vote(session.round, session.rater, ballot, who()))
    return 1


def _keys(rubric: Rubric) -> dict[str, str]:
    keys = {"i": "include", "e": "exclude", "u": "unsure"}
    return keys | ({"c": "can't be judged"} if rubric.cannot else {})


def _show(told: Input, page: QueuePage, item: QueueItem) -> None:
    told.say()
    left = f"{page.done:,} of {page.total:,} done" + (f", {page.skipped:,} skipped" if page.skipped else "")
    again = " · you skipped this one before" if item.skipped else ""
    told.say(f"{page.title} · {page.instrument} · {left}{again}", style="dim")
    told.say(item.title, style="bold")
    facts = ["; ".join(item.authors), str(item.year or ""), item.venue or ""]
    if any(facts):
        told.say(" · ".join(fact for fact in facts if fact))
    for identifier in item.identifiers:
        told.say(f"{identifier.scheme} {identifier.value}")
    if item.abstract:
        told.say(item.abstract, indent=2)
    elif page.instrument != "title":
        told.say("No abstract is available.", indent=2, style="dim")


def _in_words(ballot: Ballot) -> str:
    parts = [ballot.decision.replace("_", " ")]
    if ballot.categories:
        parts.append(", ".join(ballot.categories))
    parts += [f"{name} {', '.join(values)}" for name, values in ballot.fields.items()]
    parts += [f"confidence {ballot.confidence}"] if ballot.confidence else []
    parts += [f"reason: {ballot.reason}"] if ballot.reason else []
    return "; ".join(parts)
