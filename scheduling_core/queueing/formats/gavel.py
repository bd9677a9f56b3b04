"""Gavel's traces (stanford-futuredata/gavel, `scheduler/traces`): tab-separated, with steps instead of times.

Ten fields: job type, command, directory, steps argument, needs data, total steps, scale factor (GPUs),
weight, SLO, arrival in seconds. Traces in `msr` have seven: type, command, steps argument, needs data, total
steps, arrival, scale factor. How long a step takes is in another file, Gavel's `simulation_throughputs.json`
(steps/s by GPU type, job type and GPUs); the V100's rates are taken, as in Gavel's own generator.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from scheduling_core.admission.formats.documents import read_bytes, unpacked
from scheduling_core.errors import SchedulingError
from scheduling_core.queueing.formats.lines import Line, Source
from scheduling_core.queueing.formats.numbers import (
    LARGEST,
    Number,
    count_of,
    length_of,
    number_of,
    shown,
    time_of,
)
from scheduling_core.queueing.formats.records import Contents, Format, Found, Options, Rejected

FIELDS = {10: (0, 5, 6, 7, 8, 9), 7: (0, 4, 6, None, None, 5)}
"""Where type, steps, scale factor, weight, SLO and arrival are, by the number of fields."""
GPU_TYPE = "v100"
MILLISECONDS = 1000
WEIGHTED = "has a weight other than 1, which isn't kept."
Rates = Mapping[tuple[str, int], Fraction]


def fits(head: list[str]) -> bool:
    """Whether a line has as many tabs as a trace of Gavel's."""
    return any(line.count("\t") + 1 in FIELDS for line in head)


def read(source: Source, options: Options) -> Contents:
    """The jobs of a trace, as long as their steps take at the rates of `options.throughputs`.

    Raises
    ------
    SchedulingError : without a file of rates, or where it isn't one.
    """
    if options.throughputs is None:
        raise SchedulingError(
            f"{source.name}: a Gavel trace gives steps and no times, expected a file of rates with it "
            f"(throughputs), such as Gavel's simulation_throughputs.json."
        )
    rates = read_rates(options.throughputs)
    file = options.throughputs.name
    return Contents(
        _jobs(source, rates), Fraction(1),
        f"total steps / measured steps/s on {GPU_TYPE.upper()}, rounded to milliseconds",
        (f"Rates are those of {file}, type {GPU_TYPE}; ids count from 0 in the trace's order.",),
    )  # fmt: skip


def read_rates(path: Path) -> Rates:
    """Steps/s on a V100 by job type and GPUs, alone on them."""
    content, _ = read_bytes(path, path.name)
    plain, fault = unpacked(content, path.name)
    try:
        if fault is not None:
            raise ValueError(fault)
        entries = json.loads(plain)[GPU_TYPE].items()
        return dict(rate for key, entry in entries if (rate := _rate(key, entry)) is not None)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise SchedulingError(
            f"{path.name}: this is no file of rates, expected JSON such as "
            f'{{"{GPU_TYPE}": {{"(\'LM (batch size 5)\', 1)": {{"null": 109.2}}}}}}.'
        ) from error


def _rate(key: str, entry: Mapping[str, Any]) -> tuple[tuple[str, int], Fraction] | None:
    """A rate of the table; None for what can't run. Keys are such as "('LM (batch size 5)', 1)"."""
    job_type, _, gpus = key.removeprefix("('").removesuffix(")").rpartition("', ")
    rate = Fraction(entry["null"])
    return ((job_type, int(gpus)), rate) if 0 < rate < LARGEST else None


def _jobs(source: Source, rates: Rates) -> Iterator[Found | Rejected]:
    for number, line in enumerate(source.lines()):
        if isinstance(line, Rejected):
            yield line
            continue
        try:
            yield _job(line, str(number), rates)
        except SchedulingError as error:
            yield Rejected(line.where, str(error), line.text)


def _job(line: Line, number: str, rates: Rates) -> Found:
    cells = [cell.strip() for cell in line.text.split("\t")]
    if len(cells) not in FIELDS:
        raise SchedulingError(f"{line.where}: {len(cells)} fields between tabs, expected 10 or 7.")
    job_type, steps, scale, weight, slo, arrival = (
        "" if place is None else cells[place] for place in FIELDS[len(cells)]
    )
    submit = time_of(arrival, f"{line.where}: the arrival", "seconds")
    gpus = count_of(scale, f"{line.where}: the scale factor")
    total = length_of(steps, f"{line.where}: total steps", "a number")
    if (job_type, gpus) not in rates:
        raise SchedulingError(
            f"{line.where}: there is no rate for {shown(job_type)} on {gpus} GPUs, expected one."
        )
    exact = Fraction(total) / rates[job_type, gpus]
    duration = Fraction(max(1, round(exact * MILLISECONDS)), MILLISECONDS)
    return Found(
        line.where, line.text, number, submit, gpus, duration, _deadline(line, slo, submit, duration),
        model=job_type, assumed=(WEIGHTED,) if _weighted(line, weight) else (),
    )  # fmt: skip


def _deadline(line: Line, slo: str, submit: Number, duration: Fraction) -> Number | None:
    """Gavel's scheduler: arrival + SLO x duration; a negative SLO is none."""
    factor = number_of(slo, f"{line.where}: the SLO", "a factor, or -1 for none") if slo else -1
    return None if factor < 0 else submit + factor * duration


def _weighted(line: Line, weight: str) -> bool:
    return bool(weight) and length_of(weight, f"{line.where}: the weight", "a number") != 1


FORMAT = Format("gavel", "Gavel", read, fits)
