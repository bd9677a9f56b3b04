"""`proofshelf schedule admission replay`."""

from dataclasses import replace
from pathlib import Path

import click

from catalog.commands.errors import Refused
from catalog.commands.options import json_option
from catalog.commands.output import heading, print_json, say
from catalog.commands.schedule.admission.tables import entries_json, show_entries, show_marks
from catalog.commands.schedule.admission.workloads import GIB, read, workload_options
from catalog.commands.words import count


@click.command("replay")
@workload_options
@click.option("--slots", type=click.IntRange(1), required=True, help="Attempts that may run at once.")
@click.option("--first", type=click.IntRange(1), metavar="N",
              help="Only the first N attempts of each task, by their logged start.")  # fmt: skip
@click.option("--keep-images", type=click.FloatRange(0), metavar="SECONDS", default=0.0, show_default=True,
              help="How long an image stays after its last user.")  # fmt: skip
@click.option("--cache", type=click.FloatRange(0), metavar="GIB",
              help="What the image store holds at the most before kept images give way.")  # fmt: skip
@json_option
def command(
    path: Path, tasks: Path | None, assumed: tuple[str, ...], slots: int, first: int | None,
    keep_images: float, cache: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Replay attempts in the order of their arrival (FIFO).

    Told for all attempts as logged and for those that ended cleanly, each with quotas held whole (W) and
    with CPU and RAM released during model calls (A); and as they really ran, where starts are logged.

    \b
    Examples:
      proofshelf schedule admission replay attempts.jsonl --slots 4
    """
    from scheduling_core.admission.attempts import TICKS_PER_SECOND, Stratum, Workload
    from scheduling_core.admission.book import Entry, book
    from scheduling_core.admission.metrics import saved_share
    from scheduling_core.admission.replay import as_run, fifo
    from scheduling_core.admission.schedule import ImageStore, Limits, Policy

    if not (keep_images < 1e9 and (cache is None or cache < 1e9)):
        raise Refused("--keep-images and --cache: expected numbers below 1,000,000,000")
    store = ImageStore(round(keep_images * TICKS_PER_SECOND), None if cache is None else round(cache * GIB))
    found = read(path, tasks, assumed)
    if not len(found.workload):
        raise Refused(
            f"{path}: no attempt can be replayed here; `proofshelf schedule admission census` counts why"
        )
    told: dict[Stratum, tuple[Workload, tuple[Entry, ...], float | None]] = {}
    for stratum in Stratum:
        whole = found.workload if first is None else found.workload.first_of_each_task(first)
        workload = whole.stratum(stratum)
        if not len(workload):
            told[stratum] = (workload, (), None)
            continue
        limits = Limits(slots)
        schedules = {f"fifo {policy}": fifo(workload, limits, policy, store) for policy in Policy}
        if all(a.started is not None for a in workload.attempts):
            ran = as_run(workload, Limits(len(workload)), Policy.WHOLE)
            schedules["as run W"] = replace(ran, images=store)
        told[stratum] = (workload, book(workload, schedules), float(saved_share(workload)))
    if as_json:
        print_json({
            str(stratum): {
                "workload": workload.name, "workload_sha256": workload.sha256, "attempts": len(workload),
                "synthetic": workload.synthetic, "quota_hours_not_reserved_under_a": share,
                "schedules": entries_json(entries),
            }
            for stratum, (workload, entries, share) in told.items()
        })  # fmt: skip
        return
    for stratum, (workload, entries, share) in told.items():
        heading(f"{workload.name if len(workload) else stratum}: {count(len(workload), 'attempt')}")
        if not entries:
            say("nothing to replay", indent=2)
            continue
        show_entries(entries)
        say(f"Policy A reserves {100 * (share or 0):.1f} % fewer quota-hours of RAM than W, in any schedule.",
            indent=2)  # fmt: skip
        show_marks(entries)
