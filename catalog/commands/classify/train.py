"""`proofshelf classify train`."""

from pathlib import Path
from typing import get_args

import click

from catalog.commands.classify.tables import gate_lines, heads_table
from catalog.commands.library import who, writing
from catalog.commands.options import database_option, json_option
from catalog.commands.output import heading, print_json, progress, say
from catalog.commands.screen.tables import who_rated
from catalog.commands.words import count


@click.command("train")
@click.argument("study")
@click.option(
    "--round", "rounds", multiple=True, metavar="ROUND", help="Only votes of this round; repeatable."
)
@click.option("--rater", "raters", multiple=True, metavar="RATER", help="Only this rater's; repeatable.")
@click.option(
    "--category", "categories", multiple=True, metavar="CATEGORY", help="Only this one; repeatable."
)
@click.option("--features", default="title,abstract", show_default=True,
              help="Of title, abstract, venue, topics, field, language, type, year.")  # fmt: skip
@click.option("--folds", type=click.IntRange(3, 50), default=5, show_default=True, help="Of cross-fitting.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of folds and bootstrap.")
@click.option("--gate", type=click.Choice(["published", "strict"]), default="strict", show_default=True,
              help="Which maturity gate decides the release's status.")  # fmt: skip
@click.option("--with-texts/--without-texts", default=None,
              help="Put titles and abstracts into the package, so that `verify` can train again. "
              "Else only for a synthetic study.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 256), default=2, show_default=True, help="Processes.")
@database_option
@json_option
def command(
    study: str, rounds: tuple[str, ...], raters: tuple[str, ...], categories: tuple[str, ...], features: str,
    folds: int, seed: int, gate: str, with_texts: bool | None, jobs: int, db: Path, as_json: bool,
) -> None:  # fmt: skip
    """Train a student on a study's votes and record it as a release.

    Every figure is out of fold: of works from venues that the model which scores them never saw. What was
    found is a package too, so `proofshelf verify` computes it again. The same votes, options and code
    give the release that is here already.

    \b
    Examples:
      proofshelf classify train synthetic
      proofshelf classify train synthetic --rater rule-a --features title,abstract,venue --seed 7 --json
    """
    from catalog.training.gate import Gate
    from catalog.training.train import Choices, train_release
    from classifiers.student import Parameters

    chosen: Gate = next(g for g in get_args(Gate) if g == gate)
    names = tuple(name.strip() for name in features.split(",") if name.strip())
    choices = Choices(
        rounds, raters, categories, Parameters(features=names, folds=folds), seed, chosen, with_texts, jobs
    )
    with writing(db) as catalog, progress("Training") as step:
        trained = train_release(catalog, study, choices, who(), step)
    release, labels = trained.release, trained.labels
    if as_json:
        print_json({
            "release": release, "new": trained.gate is not None, "works": len(labels.works),
            "rounds": labels.rounds, "sides": labels.sides,
            "label_statuses": sorted({s.value for s in labels.statuses}),
            "gate": None if trained.gate is None else trained.gate.to_json(),
        })  # fmt: skip
        return
    became = "Trained" if trained.gate is not None else "Here already, unchanged:"
    say(f"{became} {release.id} on {count(len(labels.works), 'work')} of {', '.join(labels.rounds)}.")
    for side in labels.sides:
        say(who_rated(side.name, side.kind), indent=2, bullet="imitates ")
    if trained.heads:
        heads_table(trained.heads).show()
    if trained.gate is not None:
        gate_lines(trained.gate.to_json())
    heading("Status")
    say(f"{release.status}: a score ranks works; it asserts no label.")
    say(f"Version {release.version}")
    heading("Next")
    for line in (f"verify {release.id}", f"classify report {release.id}", f"classify score {release.id}"):
        say(f"proofshelf {line}", indent=2)
