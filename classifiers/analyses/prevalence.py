"""Design weights and prevalence as an analysis: from the counts of a stratified sample."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from classifiers.analyses.tables import Row, read_parameters, read_rows
from classifiers.errors import ClassifierError
from classifiers.intervals import Interval
from classifiers.prevalence import PrevalenceReport, StratumCounts, prevalence_by_rater

STRATA = ("design", "stratum", "frame", "sampled")
POSITIVES = ("design", "stratum", "rater", "positive", "unknown")


def prevalence(inputs: Mapping[str, Path], parameters: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """Weights N_h / n_h of each design, and each rater's prevalence with its error and intervals.

    Inputs: ``strata`` (design, stratum, frame, sampled) and, where raters rated the sample,
    ``positives`` (design, stratum, rater, positive, unknown); a rater needs a line for every stratum of
    the design. Parameter ``level`` of the intervals. Deterministic; the seed is unused.

    Raises
    ------
    ClassifierError : for a table that makes no sense, with its line.
    """
    level = read_parameters(parameters, {"level": 0.95})["level"]
    designs: dict[str, dict[str, tuple[int, int]]] = {}
    for row in read_rows(inputs, "strata", STRATA):
        strata = designs.setdefault(row.text("design"), {})
        name = row.text("stratum")
        if name in strata:
            raise row.error(f"the stratum {name!r} of {row.text('design')} is there twice")
        frame, sampled = row.count("frame"), row.count("sampled")
        if not 0 < sampled <= frame:
            raise row.error(f"{sampled} sampled of {frame}; expected at least 1 and at most the frame")
        strata[name] = (frame, sampled)
    outputs: dict[str, dict[str, Any]] = {
        design: {
            "frame": sum(frame for frame, _ in strata.values()),
            "sampled": sum(sampled for _, sampled in strata.values()),
            "weights": {name: frame / sampled for name, (frame, sampled) in strata.items()},
            "prevalence": {},
        }
        for design, strata in designs.items()
    }
    rows: list[list[Any]] = []
    for design, raters in _positives(inputs, designs).items():
        for report in prevalence_by_rater(raters, level=level):
            assert report.rater is not None
            found = _output(report)
            outputs[design]["prevalence"][report.rater] = found
            rows.append([design, report.rater, *(found[c] for c in COLUMNS[2:])])
    table = {"columns": list(COLUMNS), "rows": rows}
    return {"outputs": outputs, "tables": {"prevalence": table}, "charts": {}}


COLUMNS = ("design", "rater", "positive", "sampled", "estimate", "se", "logit_low", "logit_high",
           "korn_graubard_low", "korn_graubard_high", "effective_n")  # fmt: skip


def _positives(
    inputs: Mapping[str, Path], designs: Mapping[str, Mapping[str, tuple[int, int]]]
) -> dict[str, dict[str, tuple[StratumCounts, ...]]]:
    """Design -> rater -> counts of every stratum, in the design's order."""
    given: dict[str, dict[str, dict[str, Row]]] = {}
    for row in read_rows(inputs, "positives", POSITIVES) if "positives" in inputs else []:
        design, stratum, rater = (row.text(c) for c in ("design", "stratum", "rater"))
        if stratum not in designs.get(design, ()):
            raise row.error(f"{stratum!r} is no stratum of {design!r} in the table of strata")
        cells = given.setdefault(design, {}).setdefault(rater, {})
        if stratum in cells:
            raise row.error(f"{rater} has a line for {stratum} already")
        cells[stratum] = row
    found: dict[str, dict[str, tuple[StratumCounts, ...]]] = {}
    for design, raters in given.items():
        for rater, cells in raters.items():
            if missing := [name for name in designs[design] if name not in cells]:
                raise ClassifierError(
                    f"positives: {rater} has no line for stratum {missing[0]!r} of {design}; "
                    "a stratum without positives needs one with 0"
                )
            found.setdefault(design, {})[rater] = tuple(
                _counts(cells[name], name, *sizes) for name, sizes in designs[design].items()
            )
    return found


def _counts(row: Row, name: str, frame: int, sampled: int) -> StratumCounts:
    try:
        return StratumCounts(name, frame, sampled, row.count("positive"), row.count("unknown"))
    except ClassifierError as error:
        raise row.error(str(error)) from error


def _output(report: PrevalenceReport) -> dict[str, Any]:
    overall = report.overall
    found: dict[str, Any] = {
        "positive": overall.positive, "sampled": overall.sampled, "unknown": overall.unknown,
        "estimate": overall.estimate, "se": overall.se, "effective_n": overall.effective_n,
        "raw_share": overall.raw_share,
    }  # fmt: skip
    intervals: dict[str, Interval] = {
        "wald": overall.wald, "logit": overall.logit, "korn_graubard": overall.korn_graubard,
    }  # fmt: skip
    for name, interval in intervals.items():
        found |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return found
