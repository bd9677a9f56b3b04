"""From the facts of a study to what its page prints: the next steps, and what to read first."""

from dataclasses import dataclass, replace

from catalog.screening_pages import RoundView, StudyPage
from catalog.screening_statistics import QuestionAgreement, QuestionPrevalence, RaterVotes
from catalog.web import labels
from classifiers.agreement import AC1, ALPHA, COHEN, FLEISS, JACCARD, PABAK, PERCENT
from classifiers.agreement.report import AgreementReport, AgreementTable, Coefficient
from schema.rubric import Rubric

COEFFICIENTS = {
    PERCENT: "Percent agreement",
    COHEN: "Cohen’s κ",
    FLEISS: "Fleiss’ κ",
    ALPHA: "Krippendorff’s α",
    AC1: "Gwet’s AC1",
    PABAK: "PABAK",
    JACCARD: "Jaccard of the positive sets",
}
ESTIMATOR = "Stratified estimator with finite population correction (Cochran 1977, section 5A.2)."


@dataclass(frozen=True)
class Step:
    """What can be done next: why, and the command that does it."""

    why: str
    command: str


def next_steps(page: StudyPage) -> list[Step]:
    """What the study waits for, in the order in which it can be done."""
    steps: list[Step] = []
    if page.study is None:
        return steps
    wanted = {view.sample for view in page.rounds if view.sample is not None}
    for sample in page.samples:
        if sample.drawn is None and sample.design.id in wanted:
            steps.append(
                Step(
                    f"Sample {sample.design.id} is not drawn yet",
                    f"proofshelf screen sample {page.slug} {sample.design.id}",
                )
            )
    for view in page.rounds:
        steps += _steps_of(view)
    return steps


def _steps_of(view: RoundView) -> list[Step]:
    name = view.round.id
    if view.round.origin != "harness":
        return []
    if not view.has_manifest:
        return [Step(f"The works of round {name} are not laid out yet", f"proofshelf screen manifest {name}")]
    steps: list[Step] = []
    for row in view.coverage:
        if not row.remaining:
            continue
        command = "run" if row.rater.kind == labels.MODEL else "queue"
        steps.append(
            Step(
                f"{row.remaining:,} works of round {name} await {row.rater.name}",
                f"proofshelf screen {command} {name} --rater {row.rater.id}",
            )
        )
    if view.contested > view.adjudicated and view.adjudicators:
        steps.append(
            Step(
                f"Votes differ on {view.contested - view.adjudicated:,} works of round {name}",
                f"proofshelf screen adjudicate {name} --rater {view.adjudicators[0].id}",
            )
        )
    return steps


def readings(page: StudyPage) -> list[str]:
    """What must be read before any number, besides the study's own caveats."""
    said = []
    kinds = {row.rater.kind for view in page.rounds for row in view.coverage if row.voted}
    if kinds == {labels.MODEL}:
        said.append("No person has voted in this study. Every vote is a model’s, and none was validated.")
    elif kinds == {labels.MODEL, labels.HUMAN}:
        said.append("People and models voted in this study. Wherever their votes are counted, it says whose.")
    if kinds:
        said.append("No vote is no negative, and a vote that says nothing of a category is none either.")
    return said


def rubrics(page: StudyPage) -> list[Rubric]:
    """Each rubric that a round of the study asks by, once; the newest version's first."""
    found = {} if page.study is None else {page.study.rubric.sha256: page.study.rubric}
    for view in page.rounds:
        if view.rubric is not None:
            found.setdefault(view.rubric.sha256, view.rubric)
    return list(found.values())


def panel_table(found: QuestionAgreement, weighting: str = "raw") -> AgreementTable | None:
    """The table of the whole panel over all works; None without agreement."""
    if found.report is None:
        return None
    return next(
        (
            table
            for table in found.report.tables
            if table.stratum is None
            and table.weighting == weighting
            and (table.raters is None or len(table.raters) == len(found.raters))
        ),
        None,
    )


def by_name(table: AgreementTable) -> dict[str, Coefficient]:
    """The coefficients of a table by their names."""
    return {coefficient.name: coefficient for coefficient in table.coefficients}


@dataclass(frozen=True)
class PanelTables:
    """The tables of one panel or pair: overall and by stratum, raw and weighted."""

    raters: tuple[str, ...] | None
    names: tuple[str, ...]
    tables: tuple[AgreementTable, ...]
    crosstab: tuple[tuple[float, ...], ...] | None


def tables_by_panel(report: AgreementReport) -> list[PanelTables]:
    """The report's tables, those of the same raters together, in its order."""
    groups: dict[tuple[str, ...] | None, list[AgreementTable]] = {}
    for table in report.tables:
        groups.setdefault(table.raters, []).append(table)
    return [
        PanelTables(
            raters,
            tuple(c.name for c in tables[0].coefficients),
            tuple(tables),
            tables[0].counts.crosstab,
        )
        for raters, tables in groups.items()
    ]


def kind_of(raters: tuple[RaterVotes, ...], rater: str | None) -> str:
    """Whether a rater is a person or a model."""
    return next(row.kind for row in raters if row.rater == rater)


def notes_of(found: QuestionPrevalence) -> list[str]:
    """What the estimator notes, each once, with whose estimate it is."""
    notes: dict[str, list[str]] = {}
    for report in (*found.reports, *found.panel):
        for note in report.overall.notes:
            notes.setdefault(note, []).append(report.rater or "")
    return [f"{capital(note)} ({', '.join(by)})." for note, by in notes.items()]


def capital(text: str) -> str:
    """A message as a sentence of a page begins."""
    return text[:1].upper() + text[1:]


def without_strata(found: QuestionPrevalence) -> QuestionPrevalence:
    """Prevalence in the whole frame only."""
    return replace(
        found,
        reports=tuple(replace(report, strata=()) for report in found.reports),
        panel=tuple(replace(report, strata=()) for report in found.panel),
    )


def as_sentences(warnings: tuple[str, ...]) -> tuple[str, ...]:
    """Warnings as caveats of a page."""
    return tuple(f"{capital(warning)}." for warning in warnings)
