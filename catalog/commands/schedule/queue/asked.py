"""What the command line asks for: cluster, restarts, deadlines."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from catalog.commands.errors import Refused

if TYPE_CHECKING:
    from scheduling_core.queueing.cluster import Cluster
    from scheduling_core.queueing.costs import RestartCost
    from scheduling_core.queueing.jobs import Trace

F = TypeVar("F", bound=Callable[..., Any])

PLACEMENTS = ("count", "consolidated", "spread")
MOST_GPUS = 1_000_000
KINDS = ("loose", "tight")


class Exact(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.3 on
    """A decimal number between two others, as the fraction that it is."""

    name = "number"

    def __init__(self, least: int, most: int, open_below: bool = False) -> None:
        self.least, self.most, self.open_below = least, most, open_below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises click's usage error for anything else."""
        if isinstance(value, Fraction):
            return value
        exact = number(value)
        low = self.least if exact is None else exact
        if exact is None or exact > self.most or low < self.least or (self.open_below and low == self.least):
            words = "above" if self.open_below else "from"
            self.fail(f"{value!r} is no number {words} {self.least:,} to {self.most:,}", param, ctx)
        return exact


def number(text: str) -> Fraction | None:
    """A decimal number of reasonable length, exact; None for anything else."""
    try:
        return Fraction(text) if len(text) <= 40 and "/" not in text and "e" not in text.lower() else None
    except ValueError:
        return None


def cluster_options(function: F) -> F:
    """The cluster and its placement rule, and what a restart costs."""
    for option in reversed((
        click.option("--gpus", type=click.IntRange(1, MOST_GPUS), metavar="N",
                     help="GPUs in one node: any of them do for any gang."),
        click.option("--cluster", metavar="NODES",
                     help="Nodes x GPUs, as 8x8; with types, as 4x8:v100,2x4:k80."),
        click.option("--load", type=Exact(0, 1000, open_below=True), metavar="LOAD",
                     help="As many GPUs as make the offered load nearest to this, as 0.95."),
        click.option("--placement", type=click.Choice(PLACEMENTS), default=PLACEMENTS[0], show_default=True,
                     help="Any free GPUs; gangs on as few nodes as can be; or on the emptiest nodes."),
        click.option("--restart", type=Exact(0, 10**9), metavar="SECONDS",
                     help="What each start after a preemption costs; else nothing."),
        click.option("--restart-gang", is_flag=True,
                     help="A restart costs 0.5 (1 + log2 GPUs) times --restart, else times 1 s."),
    )):  # fmt: skip
        function = option(function)
    return function


def deadline_options(function: F) -> F:
    """Deadlines to be generated."""
    for option in reversed((
        click.option("--deadlines", metavar="KIND",
                     help="Generate them: loose, tight, or LOW:HIGH, factors of the run time."),
        click.option("--share", type=Exact(0, 1), metavar="SHARE",
                     help="Of jobs that get a deadline; else 0.5."),
        click.option("--seed", type=click.IntRange(0), help="Of what is drawn for deadlines; else 1."),
    )):  # fmt: skip
        function = option(function)
    return function


def cluster_of(
    trace: "Trace", gpus: int | None, cluster: str | None, load: Fraction | None, placement: str
) -> "Cluster":
    """The cluster that was asked for in one of three ways."""
    from scheduling_core.queueing.cluster import Placement, homogeneous, parse_cluster

    if sum(given is not None for given in (gpus, cluster, load)) != 1:
        raise Refused("the cluster is asked for by one of --gpus, --cluster and --load")
    if cluster is not None:
        found = parse_cluster(cluster, Placement(placement))
    else:
        found = homogeneous(gpus or trace.gpus_at_load(load or 1), placement=Placement(placement))
    if found.gpus > MOST_GPUS:
        raise Refused(f"a cluster of {found.gpus:,} GPUs, expected at most {MOST_GPUS:,}")
    return found


def restart_of(seconds: Fraction | None, by_gang: bool) -> "RestartCost":
    """What a restart costs."""
    from scheduling_core.queueing.costs import ConstantCost, GangCost, RestartCost

    if by_gang:
        return GangCost(unit=Fraction(1) if seconds is None else seconds)
    return ConstantCost(seconds) if seconds else RestartCost()


def restart_words(seconds: Fraction | None, by_gang: bool) -> str:
    """The same as it is told."""
    if by_gang:
        each = Fraction(1) if seconds is None else seconds
        return f"a restart costs 0.5 (1 + log2 GPUs) x {float(each):g} s"
    return f"a restart costs {float(seconds):g} s" if seconds else "restarts cost nothing"


@dataclass(frozen=True)
class Deadlines:
    """Factors of the run time between which they are drawn, for a share of the jobs."""

    low: float
    high: float
    share: float
    seed: int

    def of(self, trace: "Trace") -> "Trace":
        """The trace with them, in place of its own."""
        from scheduling_core.queueing.deadlines import with_deadlines

        return with_deadlines(trace, self.share, self.low, self.high, self.seed)

    def row(self) -> Mapping[str, Any]:
        """As a request keeps them."""
        return {"low": self.low, "high": self.high, "share": self.share, "seed": self.seed}


def deadlines_of(kind: str | None, share: Fraction | None, seed: int | None) -> Deadlines | None:
    """What deadlines are to be generated; None for none."""
    from scheduling_core.queueing.deadlines import LOOSE, TIGHT

    if kind is None:
        if share is not None or seed is not None:
            raise Refused("--share and --seed are of generated deadlines, expected --deadlines with them")
        return None
    named = {"loose": LOOSE, "tight": TIGHT}
    low, colon, high = kind.partition(":")
    factors = (number(low), number(high))
    if kind in named:
        between = named[kind]
    elif (
        colon and factors[0] is not None and factors[1] is not None and 0 < factors[0] <= factors[1] <= 10**6
    ):
        between = float(factors[0]), float(factors[1])
    else:
        raise Refused(
            f"--deadlines {kind}: expected {' or '.join(KINDS)}, or two factors of the run time, LOW:HIGH "
            "with 0 < LOW <= HIGH, as 1.5:5"
        )
    return Deadlines(*between, 0.5 if share is None else float(share), 1 if seed is None else seed)


def samples_of(path: Path) -> tuple[int, ...]:
    """Services in GPU seconds, one a line; the first line may be a title, as in Tiresias' public files.

    Refused where a line is something else.
    """
    found = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise Refused(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} can't be read as text: {error}") from error
    for line, text in enumerate(lines, 1):
        value = text.strip()
        if not value or (line == 1 and not value[:1].isdigit()):
            continue
        if not (value.isascii() and value.isdigit() and int(value[:16]) > 0 and len(value) < 16):
            raise Refused(
                f"{path.name} line {line}: {value[:40]!r} is no service, expected a whole number of "
                "GPU seconds above 0"
            )
        found.append(int(value))
    if len(found) < 2:
        raise Refused(f"{path.name}: {len(found)} services, expected at least 2, one a line")
    return tuple(found)
