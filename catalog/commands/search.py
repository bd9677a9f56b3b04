"""`proofshelf search`."""

from pathlib import Path

import click

from catalog import queries
from catalog.commands.library import reading
from catalog.commands.options import Whole, database_option, json_option
from catalog.commands.output import print_json, say
from catalog.commands.words import count


@click.command("search")
@click.argument("text", nargs=-1, required=True)
@click.option("--limit", type=Whole(1), default=20, show_default=True, help="How many works to show.")
@database_option
@json_option
def command(text: tuple[str, ...], limit: int, db: Path, as_json: bool) -> None:
    """Find works by their words.

    Words of title, abstract, authors or venue, the last one as a beginning; or a slug or identifier.

    \b
    Examples:
      proofshelf search GPU scheduling
      proofshelf search "deep learning" --limit 5 --json
    """
    words = " ".join(text)
    with reading(db) as connection:
        found, works = queries.search(connection, words, limit=limit)
    if as_json:
        print_json({"query": words, "found": found, "works": works})
        return
    if not found:
        say(f"Nothing matches {words!r}. `proofshelf list works` shows what is there.")
        return
    for work in works:
        say(work.title, style="bold")
        facts = [work.slug, _people(work.authors), str(work.year or ""), work.venue or ""]
        facts.append(count(work.artifacts, "package") if work.artifacts else "")
        say(" · ".join(f for f in facts if f), indent=2)
        if work.snippet:
            say(work.snippet, indent=2)
    say()
    say(
        f"{count(found, 'work')} found, {len(works):,} shown."
        if found > len(works)
        else f"{count(found, 'work')} found."
    )


def _people(authors: tuple[str, ...]) -> str:
    return "; ".join(authors) if len(authors) <= 3 else f"{authors[0]} and {len(authors) - 1} others"
