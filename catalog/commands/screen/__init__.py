"""`proofshelf screen`: a screening study from its design to its flow diagram."""

import click

from catalog.commands.lazy import LazyGroup

# Name -> module of this package, in the order in which a study is done.
COMMANDS = {
    "design": "design",
    "sample": "sample",
    "manifest": "manifest",
    "run": "run",
    "queue": "queue",
    "import-votes": "import_votes",
    "status": "status",
    "adjudicate": "adjudicate",
    "agreement": "agreement",
    "prevalence": "prevalence",
    "simulate": "simulate",
    "flow": "flow",
}


@click.group(
    "screen", cls=LazyGroup, package="catalog.commands.screen", modules=COMMANDS, no_args_is_help=True
)
def command() -> None:
    """Screen works: design, sample, rate, compare, report.

    A study says what is asked (its rubric), of whom, about which works, and what raters are shown of
    them. Votes are taken behind chunk manifests that are written before any rater begins, and never
    change: a correction is a new vote. `docs/screening.md` goes through a whole study.

    \b
    Examples:
      proofshelf screen design --example
      proofshelf screen status
    """
