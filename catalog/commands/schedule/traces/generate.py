"""`proofshelf schedule traces generate`."""

from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.files import free
from catalog.commands.options import json_option
from catalog.commands.output import print_json, say
from catalog.commands.schedule.admission.workloads import sha256_of
from catalog.commands.schedule.traces.reading import described
from catalog.commands.schedule.traces.writing import write_to

ARRIVALS, DURATIONS = ("poisson", "bursty"), ("lognormal", "pareto")


@click.command("generate")
@click.option("--jobs", type=click.IntRange(2, 1_000_000), default=480, show_default=True, help="How many.")
@click.option("--gpus", type=click.IntRange(1, 1_000_000), default=64, show_default=True,
              help="Of the cluster that the load is meant for.")  # fmt: skip
@click.option("--load", type=click.FloatRange(0, min_open=True), default=0.95, show_default=True,
              help="GPU time asked for over GPU time there, until the last job is submitted.")  # fmt: skip
@click.option("--arrivals", type=click.Choice(ARRIVALS), default=ARRIVALS[0], show_default=True,
              help="Independent gaps, or bursts.")  # fmt: skip
@click.option("--durations", type=click.Choice(DURATIONS), default=DURATIONS[0], show_default=True,
              help="How run times are distributed; both have heavy tails.")  # fmt: skip
@click.option("--gang", "gangs", multiple=True, metavar="GPUS=WEIGHT",
              help="How often jobs ask for so many GPUs; else 1=0.7, 2=0.1, 4=0.15, 8=0.05.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of what is drawn.")
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), required=True, metavar="FILE",
              help="Where to write it, in the compact form; packed where the name ends in .gz.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
def command(
    jobs: int, gpus: int, load: float, arrivals: str, durations: str, gangs: tuple[str, ...], seed: int,
    to: Path, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Write a synthetic trace, from published distributions.

    It says that it is synthetic wherever it is shown: nothing in it was measured. Run times are in whole
    seconds; `docs/queueing.md` says where the distributions are from. The same options give the same bytes.

    \b
    Examples:
      proofshelf schedule traces generate --jobs 60 --gpus 16 --to made.csv --force
      proofshelf schedule traces generate --arrivals bursty --gang 1=0.5 --gang 8=0.5 --to bursty.csv.gz
    """
    from scheduling_core.queueing.synthetic import (
        BURSTY,
        GANGS,
        POISSON,
        BoundedPareto,
        Lognormal,
        generate,
    )

    free(to, force)
    trace = generate(
        jobs, gpus, load, seed, arrivals=BURSTY if arrivals == "bursty" else POISSON,
        durations=BoundedPareto() if durations == "pareto" else Lognormal(),
        gangs=_gangs(gangs) if gangs else GANGS,
    )  # fmt: skip
    write_to(trace, to)
    if as_json:
        print_json({"path": to, "sha256": sha256_of(to), "trace": described(trace)})
        return
    say(f"Wrote {len(trace):,} synthetic jobs to {to}.")


def _gangs(given: tuple[str, ...]) -> dict[int, float]:
    found: dict[int, float] = {}
    for text in given:
        size, equals, weight = text.partition("=")
        try:
            gpus, share = int(size), float(weight)
        except ValueError:
            gpus, share = 0, 0.0
        if not equals or not 1 <= gpus <= 1_000_000 or not 0 <= share < 1e9 or gpus in found:
            raise Refused(
                f"--gang {text}: expected a number of GPUs, each once, then = and a weight from 0, as 8=0.05"
            )
        found[gpus] = share
    return found
