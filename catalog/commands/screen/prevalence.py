"""`proofshelf screen prevalence`."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import click

from catalog import screening_queries
from catalog.commands.errors import Refused
from catalog.commands.library import reading
from catalog.commands.options import database_option, json_option
from catalog.commands.output import Column, Table, heading, print_json, say
from catalog.commands.screen.questions import chosen, label, rater_votes_table, warn
from catalog.commands.screen.tables import KIND_WORDS
from catalog.screening_pages import RatingTable, RoundView, SampleView
from catalog.screening_statistics import QuestionPrevalence, prevalence_of, validation_of, validation_warnings
from classifiers.intervals import Interval
from classifiers.prevalence import (
    Band,
    Corrected,
    Prevalence,
    PrevalenceReport,
    Validation,
    rogan_gladen,
    sensitivity_band,
)

Range = tuple[float, float]


@dataclass(frozen=True)
class Correction:
    """What a machine's prevalence becomes: corrected by measured errors, or over assumed ones.

    `warnings`: what the correction takes for granted and the validation doesn't give.
    """

    rater: str
    validation: Validation | None
    validated_in: str | None
    corrected: Corrected | None
    band: Band | None
    warnings: tuple[str, ...] = ()


@click.command("prevalence")
@click.argument("round_", metavar="ROUND")
@click.option("--category", help="One category, or `scope`; else scope and every category.")
@click.option("--by", type=click.Choice(["stratum"]), help="Each stratum too.")
@click.option(
    "--validation", metavar="ROUND", help="Correct each machine by the people's votes of this round."
)
@click.option("--sensitivity", nargs=2, type=click.FloatRange(0, 1), metavar="LOW HIGH",
              help="Assumed of each machine, where nothing measures it.")  # fmt: skip
@click.option("--specificity", nargs=2, type=click.FloatRange(0, 1), metavar="LOW HIGH", help="The same.")
@database_option
@json_option
def command(
    round_: str, category: str | None, by: str | None, validation: str | None,
    sensitivity: Range | None, specificity: Range | None, db: Path, as_json: bool,
) -> None:  # fmt: skip
    """Estimate how common positives are, with intervals.

    By each rater, and by the panel (unanimous, majority, any): the stratified estimate for the frame of
    the round's sample, with finite population correction, and Wald, logit and Korn-Graubard intervals.
    Works that nobody could judge are unknown: the bounds say what they could change.

    A machine's share is what the machine calls positive. --validation corrects it by its errors against
    people (Rogan and Gladen); they must have been given their works regardless of its votes. Where
    nothing was measured, --sensitivity and --specificity show the band that an assumption leads to.

    \b
    Examples:
      proofshelf screen prevalence pilot-screen
      proofshelf screen prevalence pilot-screen --category scope --by stratum
      proofshelf screen prevalence pilot-screen --sensitivity 0.8 0.95 --specificity 0.97 0.99
    """
    if (sensitivity is None) != (specificity is None):
        raise click.UsageError("--sensitivity and --specificity go together")
    if validation is not None and sensitivity is not None:
        raise click.UsageError("--validation measures what --sensitivity and --specificity assume: give one")
    found: list[tuple[QuestionPrevalence, list[Correction]]] = []
    with reading(db) as connection:
        view = screening_queries.round_view(connection, round_)
        sample = _sample(connection, view)
        for question in chosen(view, category):
            table = screening_queries.rating_table(connection, round_, question)
            estimated = prevalence_of(table, sample)
            truth = None
            if validation is not None:
                truth = screening_queries.rating_table(connection, validation, question)
            found.append((estimated, _corrections(estimated, table, truth, sensitivity, specificity)))
    if as_json:
        print_json({"round": round_, "questions": [{"estimate": e, "corrections": c} for e, c in found]})
        return
    for estimated, corrections in found:
        _show(estimated, corrections, by is not None)


def _sample(db: sqlite3.Connection, view: RoundView) -> SampleView | None:
    if view.sample is None:
        return None
    page = screening_queries.study_page(db, view.round.study)
    return next(s for s in page.samples if s.design.id == view.sample)


def _corrections(
    estimated: QuestionPrevalence, table: RatingTable, truth: RatingTable | None,
    sensitivity: Range | None, specificity: Range | None,
) -> list[Correction]:  # fmt: skip
    if truth is None and sensitivity is None:
        return []
    kinds = dict(zip(table.raters, table.kinds, strict=True))
    machines = [report for report in estimated.reports if kinds[report.rater or ""] == "model"]
    if not machines:
        raise Refused(f"round {table.round} has no machine rater, so there are no errors of one to correct")
    return [_correction(report, table, truth, sensitivity, specificity) for report in machines]


def _correction(
    report: PrevalenceReport, table: RatingTable, truth: RatingTable | None,
    sensitivity: Range | None, specificity: Range | None,
) -> Correction:  # fmt: skip
    rater, overall = report.rater or "", report.overall
    if truth is not None:
        measured = validation_of(table, rater, truth)
        corrected = None
        if overall.estimate is not None and overall.se is not None:
            corrected = rogan_gladen(overall.estimate, overall.se, measured)
        return Correction(
            rater, measured, truth.round, corrected, None, validation_warnings(table, truth)
        )  # fmt: skip
    assert sensitivity is not None
    assert specificity is not None
    if overall.estimate is None:
        return Correction(rater, None, None, None, None)
    kg = overall.korn_graubard
    ends = (kg.low, kg.high) if kg.low is not None and kg.high is not None else None
    return Correction(
        rater, None, None, None, sensitivity_band(overall.estimate, sensitivity, specificity, interval=ends)
    )


def _show(found: QuestionPrevalence, corrections: list[Correction], by_stratum: bool) -> None:
    heading(label(found.category).capitalize())
    say(f"Share of positives in {found.frame}.", indent=2)
    rater_votes_table(found.raters).show()
    warn(found.warnings)
    kinds = {row.rater: row.kind for row in found.raters}
    for report in (*found.reports, *found.panel):
        rater = report.rater or ""
        who = f"{rater} [{KIND_WORDS[kinds[rater]]}]" if rater in kinds else rater
        say()
        say(who, style="bold", indent=2)
        _estimates([report.overall, *(report.strata if by_stratum else ())])
    for correction in corrections:
        _corrected(correction)


def _estimates(rows: list[Prevalence]) -> None:
    names = ("frame", "sampled", "usable", "unknown", "positive")
    table = Table(
        (Column("stratum"), *(Column(n, "right") for n in names), Column("raw", "decimal"),
         Column("estimate", "decimal"), Column("se", "decimal"), Column("effective n", "decimal"),
         Column("logit 95 %"), Column("Korn-Graubard 95 %"), Column("Wald 95 %")),
        indent=4,
    )  # fmt: skip
    for row in rows:
        notes = list(row.notes)
        if row.undefined:
            notes.append(f"no estimate: {row.undefined}")
        for interval in (row.logit, row.korn_graubard, row.wald):
            if interval.low is None and interval.reason and not row.undefined:
                notes.append(f"no {interval.method.replace('_', '-')} interval: {interval.reason}")
        if row.bounds is not None:
            notes.append(f"were all {row.unknown:,} unknown negative: {_share(row.bounds.low)}; "
                         f"positive: {_share(row.bounds.high)}")  # fmt: skip
        counts = (row.frame, row.sampled, row.usable, row.unknown, row.positive)
        table.add(
            row.stratum or "overall", *(f"{n:,}" for n in counts), _share(row.raw_share),
            _share(row.estimate), _share(row.se), "" if row.effective_n is None else f"{row.effective_n:.1f}",
            _ends(row.logit), _ends(row.korn_graubard), _ends(row.wald), notes=notes,
        )  # fmt: skip
    table.show()


def _corrected(found: Correction) -> None:
    say()
    say(f"{found.rater} [machine], corrected for its errors", style="bold", indent=2)
    if found.validation is not None:
        v = found.validation
        say(f"Against the people of {found.validated_in}: {v.true_positive} true and {v.false_positive} "
            f"false positives, {v.true_negative} true and {v.false_negative} false negatives.",
            indent=4)  # fmt: skip
        if found.corrected is None:
            say("No correction: there is no share, or it has no standard error.", indent=4)
            return
        c = found.corrected
        if c.undefined is not None:
            say(f"No correction: {c.undefined}.", indent=4)
            return
        say(f"Sensitivity {c.sensitivity:.4f}, specificity {c.specificity:.4f}: {_share(c.estimate)}, "
            f"se {_share(c.se) or 'none'}, 95 % {_ends(c.interval) or 'none'}.", indent=4)  # fmt: skip
        why = [f"no interval: {c.interval.reason}"] if c.interval.low is None and c.interval.reason else []
        for note in (*why, *c.notes):
            say(note, indent=4, style="dim")
        warn(found.warnings)
        return
    band = found.band
    if band is None or band.low is None or band.high is None:
        say(
            "No band: there is no share to correct, or the assumed errors are no better than chance.",
            indent=4,
        )
        return
    outer = ""
    if band.interval_low is not None and band.interval_high is not None:
        outer = f"; with the sampling error {band.interval_low:.5f} to {band.interval_high:.5f}"
    say(
        f"Over the errors assumed (none of them measured): {band.low:.5f} to {band.high:.5f}{outer}.",
        indent=4,
    )
    if band.truncated:
        say(f"{band.truncated} of {len(band.points)} assumed pairs contradict the share that was found: they "
            "would put it outside 0 to 1, and were cut.", indent=4, style="bold yellow")  # fmt: skip
    if useless := sum(point.estimate is None for point in band.points):
        say(f"{useless} of {len(band.points)} assumed pairs are no better than chance and left out.",
            indent=4, style="bold yellow")  # fmt: skip


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.5f}"


def _ends(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return ""
    return f"{interval.low:.4f}-{interval.high:.4f}"
