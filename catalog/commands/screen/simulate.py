"""`proofshelf screen simulate`."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from catalog.commands.errors import Refused
from catalog.commands.files import free, replacing, replacing_bytes
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, print_json, progress, say
from catalog.commands.screen.questions import SCOPE
from catalog.commands.screen.tables import statuses
from catalog.commands.words import count
from schema.states import Estimand

# What learns brings scipy with it, which the help of all these commands shouldn't wait for.
if TYPE_CHECKING:
    from catalog.simulation import Arm, Labelled, LeftOut

ENDINGS = (".svg", ".png", ".vl.json", ".json")
LEARNING = ("certainty", "uncertainty", "mix")
CONTROL = "random"
WORDS = {
    "wss_at_95": "WSS@95", "wss_at_100": "WSS@100", "recall_after_10": "recall after 10 %",
    "erf_after_10": "ERF after 10 %", "atd": "ATD", "atd_normalised": "ATD / n", "ndcg": "NDCG",
}  # fmt: skip


@click.command("simulate")
@click.argument("source", metavar="ROUND|FILE")
@click.option(
    "--category", default=SCOPE, show_default=True, help="Of a round: the question whose labels count."
)
@click.option("--rater", help="Of a round: one rater's votes; else the panel's.")
@click.option("--estimand", type=click.Choice(get_args(Estimand)), default="majority", show_default=True,
              help="Of a round: how a panel's votes become one label.")  # fmt: skip
@click.option("--column", help="Of a file: the column with the labels, where there are several.")
@click.option("--strategy", type=click.Choice(LEARNING), default=LEARNING[0], show_default=True,
              help="What is read next.")  # fmt: skip
@click.option(
    "--batch", type=click.IntRange(1), default=1, show_default=True, help="Records between two fits."
)
@click.option(
    "--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="The first seed."
)
@click.option("--seeds", type=click.IntRange(1, 100), default=1, show_default=True,
              help="How many, each with its own first two records.")  # fmt: skip
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the recall curve (.svg, .png, .vl.json), or everything (.json).")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@database_option
@json_option
def command(
    source: str, category: str, rater: str | None, estimand: Estimand, column: str | None, strategy: str,
    batch: int, seed: int, seeds: int, to: Path | None, force: bool, db: Path, as_json: bool,
) -> None:  # fmt: skip
    """Replay a screening whose labels are known.

    A learner reads one relevant and one irrelevant record, chosen by the seed, then asks for the next
    ones until the last relevant record is found. Told are the work saved over sampling (WSS), recall
    after 10 %, extra relevant found (ERF), the average time to discovery (ATD) and NDCG, beside a random
    order as control. The first two records are no part of any figure.

    The labels are a round's votes, or a column of a table that holds records and labels (CSV, also
    gzipped); one without a title is read by its abstract. What has no known label or no text is left out
    and counted by its cause. Claims need ten seeds or more.

    \b
    Examples:
      proofshelf screen simulate pilot-screen --rater ada --json
      proofshelf screen simulate labelled.csv --seeds 2 --batch 5 --to recall.svg
    """
    from catalog.simulation import run_arm
    from classifiers.active.simulate import Strategy

    if to is not None:
        if not to.name.lower().endswith(ENDINGS):
            raise Refused(f"{to}: expected a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        free(to, force)
    labelled = _labelled(source, category, rater, estimand, column, db)
    numbers = range(seed, seed + seeds)
    arms = []
    for arm in (Strategy(strategy), Strategy(CONTROL)):
        with progress(f"Reading, {arm.value}") as step:

            def told(screened: int, found: int, step: Any = step) -> bool | None:
                if step is not None:
                    step(f"{found} found", screened, len(labelled.pool))
                return None

            arms.append(run_arm(labelled, arm, numbers, batch, told))
    if to is not None:
        _write(labelled, arms, to)
    if as_json:
        print_json({**_facts(labelled, arms), "path": to})
        return
    _show(labelled, arms)
    if to is not None:
        say(f"Wrote {to}.")


def _labelled(
    source: str, category: str, rater: str | None, estimand: Estimand, column: str | None, db: Path
) -> "Labelled":
    from catalog.simulation import labelled_file, labelled_round

    path = Path(source)
    if path.is_file():
        return labelled_file(path, column)
    if path.suffix or path.parent != Path():
        raise Refused(f"{source} is not there")
    with reading(db) as connection:
        return labelled_round(connection, source, None if category == SCOPE else category, rater, estimand)


def _facts(labelled: "Labelled", arms: "list[Arm]") -> dict[str, Any]:
    from catalog.simulation import TOLD

    return {
        "source": labelled.source,
        "question": labelled.question,
        "labels_by": labelled.labels_by,
        "statuses": labelled.statuses,
        "records": len(labelled.ids),
        "relevant": sum(labelled.labels),
        **asdict(labelled.left_out),
        "arms": [
            {
                "strategy": arm.strategy.value,
                "means": {measure: arm.mean(measure) for measure in TOLD},
                "simulations": [simulation.to_json() for simulation in arm.simulations],
            }
            for arm in arms
        ],
    }


def _write(labelled: "Labelled", arms: "list[Arm]", to: Path) -> None:
    from catalog.simulation import recall_chart

    name = to.name.lower()
    chart = recall_chart(labelled, arms)
    if name.endswith(".png"):
        import vl_convert

        picture = bytes(vl_convert.vegalite_to_png(chart, scale=2))
        with replacing_bytes(to) as binary:
            binary.write(picture)
        return
    if name.endswith(".svg"):
        import vl_convert

        text = vl_convert.vegalite_to_svg(chart)
    else:
        whole = chart if name.endswith(".vl.json") else _facts(labelled, arms)
        text = json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(to) as stream:
        stream.write(text)


def _left_out(left: "LeftOut") -> str:
    """What is no part of the pool, each cause with its number."""
    causes = [
        (left.unknown, "with an unknown label"),
        (left.without_text, "without title and abstract"),
        (left.rejected, "rejected"),
        (left.repeated, "repeated"),
    ]
    return "left out: " + (", ".join(f"{n:,} {why}" for n, why in causes if n) or "none")


def _show(labelled: "Labelled", arms: "list[Arm]") -> None:
    say(f"{labelled.source}, {labelled.question}: {count(len(labelled.ids), 'record')}, "
        f"{sum(labelled.labels):,} relevant; {_left_out(labelled.left_out)}.")  # fmt: skip
    for text in labelled.left_out.problems:
        say(text, style="yellow", indent=2)
    by = f" ({statuses(labelled.statuses)})" if labelled.statuses else ""
    say(f"Labels by {labelled.labels_by}{by}; {count(len(arms[0].simulations), 'seed')}, means over them.")
    table = Table((Column("measure"), *(Column(arm.strategy.value, "decimal") for arm in arms)), indent=2)
    for measure, word in WORDS.items():
        table.add(word, *(_number(arm.mean(measure)) for arm in arms))
    table.show()
    if not any(simulation.discovery.relevant for simulation in arms[0].simulations):
        say("The only relevant record is the one known beforehand, so nothing was left to find.")
        return
    read = [
        max(n for n, step in enumerate(simulation.steps, start=1) if step.relevant)
        for simulation in arms[0].simulations
    ]
    say(f"The last relevant record came after {min(read):,}"
        + (f" to {max(read):,}" if max(read) > min(read) else "")
        + f" of {len(labelled.ids) - 2:,} records. A simulation knows which is the last one; a screening "
        "doesn't.")  # fmt: skip


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"
