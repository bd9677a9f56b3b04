"""`proofshelf classify score`."""

from pathlib import Path

import click

from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, progress, say
from catalog.commands.words import count


@click.command("score")
@click.argument("release")
@click.option("--jobs", type=click.IntRange(1, 256), default=2, show_default=True, help="Processes.")
@database_option
@json_option
def command(release: str, jobs: int, db: Path, as_json: bool) -> None:
    """Score every work of a study's frame with a release.

    A work without title and abstract, or none of whose words the model knows, gets no score and is
    counted: it stays unknown. Stopped, it goes on where it was; scores show when all are in.

    \b
    Examples:
      proofshelf classify score synthetic-r1
      proofshelf classify score synthetic-r1 --json
    """
    from catalog.training.scoring import score_catalog

    with writing(db) as catalog, progress("Scoring") as step:
        done = score_catalog(catalog, release, who(), jobs, step)
    if as_json:
        print_json(done)
        return
    say(f"Scored {done.scored:,} of {count(done.works, 'work')} with {release}: {done.new:,} new, "
        f"{done.known:,} here already.")  # fmt: skip
    if done.no_text:
        say(f"{count(done.no_text, 'work')} without a word of title or abstract: no score, which is unknown.")
    if done.no_known_terms:
        say(f"{count(done.no_known_terms, 'work')} with no word that the model knows: no score, unknown.")
    say(f"Status of every score: {done.status}. A score ranks; it asserts no label.")
