"""Who is asking, what they may rate, and where one signs in: by whatever Datasette plugin knows people."""

import secrets
import sqlite3
from dataclasses import dataclass
from typing import Any

from datasette.utils import await_me_maybe

from catalog import screening_queries

_WORDS = ("log in", "login", "sign in", "signin")


@dataclass(frozen=True)
class SignIn:
    """A plugin's own way in: an address on this server, and its words."""

    href: str
    words: str


def actor_id(request: Any) -> str | None:
    """The name of whoever is signed in; None for nobody, or for somebody without a name."""
    actor = request.actor
    name = actor.get("id") if isinstance(actor, dict) else None
    return None if name is None or str(name) == "" else str(name)


@dataclass(frozen=True)
class Queue:
    """A round in which somebody may rate, and how far they are."""

    study: str
    round: str
    title: str
    done: int
    total: int


def queues_of(db: sqlite3.Connection, name: str | None, study: str | None = None) -> tuple[Queue, ...]:
    """The rounds in which somebody may rate (of one study), open ones first."""
    if name is None:
        return ()
    found = (
        Queue(screening_queries.queue_page(db, round_, name).study, round_, title, done, total)
        for round_, title, done, total in screening_queries.rater_rounds(db, name)
    )
    return tuple(queue for queue in found if study in (None, queue.study))


def unseen_in(db: sqlite3.Connection, name: str | None, work: str) -> tuple[Queue, ...]:
    """The rounds in which somebody still has to rate this work, and so may not see what others said."""
    waiting = []
    for queue in queues_of(db, name):
        rows = screening_queries.category_states(db, work, queue.round)
        if rows and not any(vote.rater == name for vote in rows[0].votes):
            waiting.append(queue)
    return tuple(waiting)


async def ways_in(datasette: Any, request: Any) -> tuple[SignIn, ...]:
    """Every way to sign in that a plugin offers in Datasette's menu to somebody who isn't signed in."""
    found: list[SignIn] = []
    # Not above: loading Datasette's plugins registers ours, which must not be while it is half imported.
    from datasette.plugins import pm

    for links in pm.hook.menu_links(datasette=datasette, actor=None, request=request):
        for link in await await_me_maybe(links) or ():
            href, words = str(link.get("href", "")), str(link.get("label", ""))
            if words.lower().startswith(_WORDS) and href.startswith("/") and not href.startswith("//"):
                found.append(SignIn(href, words))
    return tuple(found)


def token_holds(request: Any, token: str) -> bool:
    """Whether a form came from a page of this server.

    Datasette compares the token only where a request has a cookie; a browser that signs in by HTTP's
    own dialog sends its password to whoever asks and needs none. A bearer token is sent by no browser.
    """
    if (request.headers.get("authorization") or "").startswith("Bearer "):
        return True
    expected: str = request.scope["csrftoken"]()
    return secrets.compare_digest(token.encode("utf-8"), expected.encode("utf-8"))
