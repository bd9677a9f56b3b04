"""Options and readers that the commands on attempts share."""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from catalog.commands.errors import Refused
from catalog.commands.output import note

if TYPE_CHECKING:
    from scheduling_core.admission.attempts import Workload
    from scheduling_core.admission.formats import Import
    from scheduling_core.admission.schedule import Limits

F = TypeVar("F", bound=Callable[..., Any])

GIB = 1 << 20
ASSUMABLE = {"cpu": "cpu_milli", "ram": "ram_kib", "disk": "disk_kib", "image": "image_kib"}
MANY_NOTES = 5


def workload_options(function: F) -> F:
    """PATH, and what is to be assumed or left out."""
    for option in reversed((
        click.argument("path", type=click.Path(path_type=Path)),
        click.option("--tasks", type=click.Path(path_type=Path, file_okay=False), metavar="FOLDER",
                     help="Where the task files (task.toml) with quotas are, if not beside the trials."),
        click.option("--assume", "assumed", multiple=True, metavar="NAME=AMOUNT",
                     help="A quota where none is known: cpu (cores), ram, disk, image (GiB); repeatable."),
    )):  # fmt: skip
        function = option(function)
    return function


def choice_options(function: F) -> F:
    """Which of the attempts."""
    for option in reversed((
        click.option("--first", type=click.IntRange(1), metavar="N",
                     help="Only the first N attempts of each task, by their logged start."),
        click.option("--stratum", type=click.Choice(("as_logged", "clean")), default="as_logged",
                     show_default=True, help="All attempts, or those that ended by themselves."),
    )):  # fmt: skip
        function = option(function)
    return function


def limit_options(function: F) -> F:
    """Slots, policy, deadline and caps."""
    for option in reversed((
        click.option("--slots", type=click.IntRange(1), required=True, help="Attempts that may run at once."),
        click.option("--policy", type=click.Choice(("W", "A")), default="A", show_default=True,
                     help="CPU and RAM are held whole (W), or only outside model calls (A)."),
        click.option("--deadline", type=click.FloatRange(0, min_open=True), metavar="HOURS",
                     help="When all has to have ended; else FIFO's makespan on the same slots."),
        click.option("--cap", "caps", multiple=True, metavar="NAME=AMOUNT",
                     help="A limit: cpu (cores), ram, disk, parked, image (GiB), requests; repeatable."),
    )):  # fmt: skip
        function = option(function)
    return function


def run_options(function: F) -> F:
    """Where a run is written, and as what."""
    for option in reversed((
        click.option("--runs", type=click.Path(path_type=Path, file_okay=False), default=Path("runs"),
                     show_default=True, help="The folder in which a new one is made for the run."),
        click.option("--historical", is_flag=True,
                     help="Mark the run as a pilot or as overtaken; else it is canonical."),
    )):  # fmt: skip
        function = option(function)
    return function


def read(path: Path, tasks: Path | None, assumed: tuple[str, ...]) -> "Import":
    """The attempts of a file or folder; what was set aside is told on standard error."""
    from scheduling_core.admission.formats import Assumptions, read_workload

    given = {ASSUMABLE[name]: amount for name, amount in _amounts(assumed, ASSUMABLE, "--assume").items()}
    nothing = dict.fromkeys(ASSUMABLE.values())
    found = read_workload(path, Assumptions(**{**nothing, **given}) if given else None, tasks)
    aside = [f"{r.where}: {r.reason}" for r in found.rejected]
    aside += [f"{u.id}: not replayable: {u.reason}" for u in found.unreplayable]
    for sentence in aside[:MANY_NOTES]:
        note(sentence)
    if len(aside) > MANY_NOTES:
        note(f"and {len(aside) - MANY_NOTES:,} more; `proofshelf schedule admission census` counts them")
    return found


def chosen(found: "Import", first: int | None, stratum: str) -> "Workload":
    """The attempts that were asked for; refused where none is left."""
    from scheduling_core.admission.attempts import Stratum

    workload = found.workload
    if first is not None:
        workload = workload.first_of_each_task(first)
    workload = workload.stratum(Stratum(stratum))
    if not len(workload):
        raise Refused(
            f"{found.workload.name}: no attempt of it can be replayed here; "
            "`proofshelf schedule admission census` says why"
        )
    return workload


def limits_of(
    workload: "Workload", slots: int, deadline: float | None, caps: tuple[str, ...], fallback: bool = True
) -> "Limits":
    """Limits as asked; without a deadline that of FIFO's makespan, or none where there is no `fallback`."""
    from scheduling_core.admission.attempts import TICKS_PER_HOUR
    from scheduling_core.admission.replay import fifo
    from scheduling_core.admission.schedule import Limits

    names = {**ASSUMABLE, "parked": "parked_kib", "requests": "requests"}
    given = {names[name]: amount for name, amount in _amounts(caps, names, "--cap").items()}
    if deadline is not None and not 0 < deadline < 1e9:
        raise Refused(f"--deadline {deadline}: expected hours above 0")
    last = None if deadline is None else round(deadline * TICKS_PER_HOUR)
    if last is None and fallback:
        starts = fifo(workload, Limits(slots)).starts
        last = max(start + a.ticks for start, a in zip(starts, workload.attempts, strict=True))
    return Limits(slots, deadline=last, **given)


def inputs_of(found: "Import") -> list[dict[str, Any]]:
    """The files that were read, each with its hash, for a run's request."""
    return [{"path": str(source.path), "sha256": source.sha256} for source in found.sources]


def sha256_of(path: Path) -> str:
    """Of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _amounts(given: tuple[str, ...], names: Mapping[str, str], option: str) -> dict[str, int]:
    found = {}
    for text in given:
        name, equals, amount = text.partition("=")
        match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)", amount)
        if name not in names or not equals or match is None:
            raise Refused(f"{option} {text}: expected one of {', '.join(names)}, then = and a number")
        unit = {"cpu": 1000, "requests": 1}.get(name, GIB)
        found[name] = round(float(amount) * unit)
    return found
