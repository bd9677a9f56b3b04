"""`proofshelf screen sample`."""

from pathlib import Path

import click

from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, say
from catalog.commands.screen.tables import strata_table
from catalog.commands.words import count
from catalog.study_files import read_strata


@click.command("sample")
@click.argument("study")
@click.argument("sample")
@click.option(
    "--strata", "path", metavar="FILE", type=click.Path(path_type=Path),
    help="CSV with the columns work and stratum, for strata without a rule.",
)  # fmt: skip
@database_option
@json_option
def command(study: str, sample: str, path: Path | None, db: Path, as_json: bool) -> None:
    """Draw a sample of a study from the catalog's works.

    Strata must part the frame: each work in one of them, none left out. Within a stratum the order is
    that of SHA-256(id || salt), so the same catalog gives the same sample, and anyone can check it.

    \b
    Examples:
      proofshelf screen sample pilot pilot-sample
      proofshelf screen sample pilot pilot-sample --json
    """
    table = None if path is None else read_strata(path)
    with writing(db) as catalog:
        drawn = catalog.draw_sample(study, sample, table, who())
    if as_json:
        print_json(drawn)
        return
    became = "Drew" if drawn.new else "Here already, unchanged:"
    say(f"{became} {drawn.slug}: {drawn.drawn:,} of {count(drawn.frame_size, 'work')} "
        f"(frame sha256 {drawn.frame_sha256}).")  # fmt: skip
    strata_table(drawn.strata).show()
    say("Each work stands for N / n works of its stratum.")
