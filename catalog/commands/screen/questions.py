"""Which questions of a round a command speaks of, and each rater's votes on one."""

from collections.abc import Iterable

from catalog.commands.errors import Refused
from catalog.commands.output import Column, Table, say
from catalog.commands.screen.tables import who_rated
from catalog.screening_pages import RoundView
from catalog.screening_statistics import RaterVotes

SCOPE = "scope"


def chosen(view: RoundView, category: str | None) -> list[str | None]:
    """The questions asked for: None is scope. Scope and every category where none is named."""
    categories = view.round.categories
    if category is None:
        return [None, *categories]
    if category == SCOPE:
        return [None]
    if category not in categories:
        raise Refused(
            f"{category!r} is no category of round {view.round.id}; expected {SCOPE} or one of "
            f"{', '.join(categories)}"
        )
    return [category]


def label(category: str | None) -> str:
    """`in scope`, or the category."""
    return "in scope" if category is None else category


def rater_votes_table(rows: Iterable[RaterVotes]) -> Table:
    """Each rater's votes, counted; what says nothing, and what isn't there, in columns of their own."""
    names = ("works", "positive", "negative", "unusable", "not voted")
    table = Table((Column("rater"), Column("status"), *(Column(n, "right") for n in names)), indent=2)
    for row in rows:
        numbers = (row.works, row.positive, row.negative, row.unusable, row.not_cast)
        table.add(who_rated(row.rater, row.kind), row.status.value, *(f"{n:,}" for n in numbers))
    return table


def warn(texts: Iterable[str]) -> None:
    """Print warnings."""
    for text in texts:
        say(f"{text[:1].upper()}{text[1:]}.", style="bold yellow", indent=2)
