"""`proofshelf classify`: a student that imitates raters, from its training to its calls."""

import click

from catalog.commands.lazy import LazyGroup

# Name -> module of this package, in the order in which a model is made and used.
COMMANDS = {
    "train": "train",
    "report": "report",
    "evaluate": "evaluate",
    "score": "score",
    "decide": "decide",
    "batch": "batch",
}


@click.group(
    "classify", cls=LazyGroup, package="catalog.commands.classify", modules=COMMANDS, no_args_is_help=True
)
def command() -> None:
    """Train a classifier on votes, check its calibration, score works.

    One head for each rater and category learns to imitate that rater. A score ranks works and never
    asserts a label; calls by quota carry their status, and a head without enough positives makes none.

    \b
    Examples:
      proofshelf classify train synthetic
      proofshelf classify report synthetic-r1
    """
