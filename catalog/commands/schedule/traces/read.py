"""`proofshelf schedule traces read`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from catalog.commands.files import free
from catalog.commands.options import json_option
from catalog.commands.output import Column, Table, print_json, say
from catalog.commands.schedule.admission.workloads import sha256_of
from catalog.commands.schedule.traces.reading import described, load, read, rejected_json, trace_options
from catalog.commands.schedule.traces.writing import write_to
from catalog.commands.words import count

if TYPE_CHECKING:
    from scheduling_core.queueing.formats import Import


@click.command("read")
@trace_options
@click.option("--gpus", type=click.IntRange(1, 1_000_000), metavar="N",
              help="Tell the offered load on so many GPUs.")  # fmt: skip
@click.option("--to", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write the compact form, packed where the name ends in .gz.")  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file if it is there.")
@json_option
def command(
    trace: Path, skip_bad: bool, muri_run_time: bool, throughputs: Path | None, gpus: int | None,
    to: Path | None, force: bool, as_json: bool,
) -> None:  # fmt: skip
    """Tell what is in a trace, in any of the known formats.

    The format is found by the content: Tiresias, Muri, Chronus, ElasticFlow, Gavel, Alibaba pods, Philly,
    Helios, the Standard Workload Format, or the compact form. Times stay exact. Told is what was assumed and
    what was set aside.

    \b
    Examples:
      proofshelf schedule traces read made.csv --gpus 16
      proofshelf schedule traces read tiresias.csv --to compact.csv.gz
    """
    if to is not None:
        free(to, force)
    found = read(trace, skip_bad, muri_run_time, throughputs)
    if to is not None:
        write_to(found.trace, to)
    told = _told(found, trace, gpus, to)
    if as_json:
        print_json(told)
        return
    _show(told)


def _told(found: "Import", path: Path, gpus: int | None, to: Path | None) -> dict[str, Any]:
    from scheduling_core.queueing.formats import FORMATS

    return {
        "path": path, "sha256": found.sha256, "format": found.format,
        "format_title": FORMATS[found.format].title, "trace": described(found.trace),
        "load": None if gpus is None else {"gpus": gpus, "offered_load": load(found.trace, gpus)},
        "notes": list(found.notes), "rejected": rejected_json(found),
        "wrote": None if to is None else {"path": to, "sha256": sha256_of(to)},
    }  # fmt: skip


def _show(told: dict[str, Any]) -> None:
    trace = told["trace"]
    say(trace["name"], style="bold")
    table = Table((Column("what"), Column("value", prose=True)), indent=2)
    gangs = f"{trace['gang_min']:,} to {trace['gang_max']:,}"
    rows = (
        ("format", told["format_title"]),
        ("measured", "no, synthetic" if trace["synthetic"] else "as its source says"),
        ("jobs", f"{trace['jobs']:,}"),
        ("jobs with a deadline", f"{trace['deadline_jobs']:,}"),
        ("GPUs of a job", gangs),
        (
            "durations",
            f"median {trace['duration_median_s']:,.1f} s, longest {trace['duration_max_s']:,.1f} s",
        ),
        ("a duration is", trace["duration_means"]),
        ("GPU time asked for", f"{trace['gpu_hours']:,.1f} GPU-h"),
        ("first to last submission", f"{trace['span_hours']:,.1f} h"),
        ("GPUs at a load of 1", _number(trace["gpus_asked_mean"])),
        ("tick", f"{trace['tick_seconds']} s"),
    )
    for what, value in rows:
        table.add(what, value)
    if told["load"] is not None:
        table.add(f"offered load on {told['load']['gpus']:,} GPUs", _number(told["load"]["offered_load"], 3))
    table.add("set aside", count(len(told["rejected"]), "record"))
    table.show()
    for sentence in told["notes"]:
        say(sentence, indent=2)
    if told["wrote"] is not None:
        say(f"Wrote {told['wrote']['path']}")


def _number(value: float | None, places: int = 1) -> str:
    return "unknown: all jobs are submitted at once" if value is None else f"{value:,.{places}f}"
