"""`proofshelf screen design`."""

from pathlib import Path
from typing import Any

import click

from catalog.commands.errors import Refused
from catalog.commands.files import free, replacing
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import print_json, say
from catalog.commands.screen.examples import EXAMPLE, simple
from catalog.commands.words import count
from catalog.study_files import parse_study, read_study
from schema.study import Study


@click.command("design")
@click.argument("path", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option("--example", is_flag=True, help="A commented study file instead: printed, or written to FILE.")
@click.option(
    "--simple", "simple_id", metavar="ID", help="The same with one category, `include`, and two people."
)
@click.option("--title", help="Of --simple: its title.")
@database_option
@json_option
def command(
    path: Path | None, example: bool, simple_id: str | None, title: str | None, db: Path, as_json: bool
) -> None:
    """Record a study: rubric, raters, rounds, samples.

    FILE is TOML or JSON. Everything in it is hashed and recorded before the first rater begins. The
    same study again changes nothing; another version may add raters, rounds and samples, and never
    changes what a round was asked.

    \b
    Examples:
      proofshelf screen design --example
      proofshelf screen design --simple menon --title "Defect prediction" menon.toml
      proofshelf screen design study.toml
    """
    if (title is None) != (simple_id is None) or (example and simple_id is not None):
        raise click.UsageError("--title goes with --simple, and neither with --example")
    if example or simple_id is not None:
        _template(EXAMPLE if simple_id is None else simple(simple_id, title or ""), path, as_json)
        return
    if path is None:
        raise click.UsageError("say which FILE; --example prints one to begin with")
    read = read_study(path)
    with writing(db) as catalog:
        added = catalog.add_study(read.study, read.sha256, who())
    if as_json:
        print_json({**_facts(read.study), "added": added, "file": path, "file_sha256": read.sha256})
        return
    became = "Recorded" if added.new else "Here already, unchanged:"
    say(f"{became} {added.slug}, version {added.version} (sha256 {added.sha256}).")
    for plan in read.study.rounds:
        raters = ", ".join(plan.raters)
        what = f"sample {plan.sample}" if plan.sample else "every work"
        say(f"{plan.id}: {plan.instrument}, {what}, {count(len(plan.raters), 'rater')}: {raters}", indent=2)
    say(f"Next: {_next(read.study)}")


def _template(text: str, path: Path | None, as_json: bool) -> None:
    parse_study(text)  # an id or title that can't be is refused here, not on the next day
    if path is None:
        print_json({"study": text}) if as_json else click.echo(text, nl=False)
        return
    free(path, force=False)
    if path.suffix.lower() != ".toml":
        raise Refused(f"{path}: the study is written as TOML; expected a name that ends in .toml")
    with replacing(path) as stream:
        stream.write(text)
    if as_json:
        print_json({"study": text, "path": path})
        return
    say(f"Wrote {path}. Edit it as you like, then: proofshelf screen design {path}")


def _facts(study: Study) -> dict[str, Any]:
    return {"study": study, "rubric_sha256": study.rubric.sha256}


def _next(study: Study) -> str:
    if study.samples:
        return f"proofshelf screen sample {study.id} {study.samples[0].id}"
    return f"proofshelf screen manifest {study.rounds[0].id}"
