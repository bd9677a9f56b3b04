"""A small screening study with every state that its pages can show, made through `catalog.store`.

Twelve works; two people and two models in one round with a sample, an adjudicator, a second round that
nobody began; a release with figures, curves, scores and calls. All of it is made up, and marked so.
"""

import json
from pathlib import Path
from typing import Any

from catalog import store
from catalog.ballots import AnswerMeta
from schema.ballots import Ballot
from schema.scores import DecisionRun, Head, ModelRelease, Quota
from schema.study import Study

HOSTILE = '<script>alert("work")</script> & "quotes"'
CAVEAT = "Twelve made-up works; no share of anything follows."
ROUND, LATER, STUDY, RELEASE, RUN = "pilot-screen", "pilot-fulltext", "pilot", "student-1", "calls-1"
SOURCE = "c" * 64
SECRET_REASON = "Bens own words, which nobody else may see before voting."
CATEGORIES = ("trial", "protocol", "openness")
PEOPLE = {"ada": "Ada Lovelace", "ben": "Ben <b>Bold</b>", "cara": "Cara"}

STUDY_RECORD: dict[str, Any] = {
    "id": STUDY,
    "title": "Does the abstract report a randomised trial?",
    "description": "A pilot, made up to show every state.",
    "synthetic": True,
    "caveats": [CAVEAT],
    "licence": "CC0-1.0",
    "rubric": {
        "id": "trials",
        "version": "1",
        "title": "Randomised trials",
        "instructions": "Judge only what the title and abstract say.\nA protocol of a trial is a trial.",
        "categories": [
            {"id": "trial", "label": "Randomised trial", "description": "Reports or plans one."},
            {"id": "protocol", "label": "Protocol"},
            {"id": "openness", "label": "Open data", "stands_alone": True},
            {"id": "cannot", "label": "Can't be screened", "cannot_be_screened": True},
        ],
        "fields": [
            {"id": "design", "label": "Study design", "values": ["parallel", "crossover", "cluster"]},
            {
                "id": "masking",
                "label": "Masking",
                "values": ["open", "single", "double"],
                "required": "exactly_when",
                "when": "trial",
            },
            {"id": "topics", "label": "Topics", "values": ["heart", "lung"], "many": True},
        ],
    },
    "raters": [
        {"id": "ada", "kind": "human", "name": PEOPLE["ada"]},
        {"id": "ben", "kind": "human", "name": PEOPLE["ben"]},
        {"id": "cara", "kind": "human", "name": PEOPLE["cara"]},
        {"id": "rule", "kind": "model", "name": "A keyword rule", "version": "1"},
        {"id": "oracle", "kind": "model", "name": "Another rule", "version": "2"},
    ],
    "samples": [
        {
            "id": "pilot-sample",
            "salt": "pilot",
            "strata": [
                {"id": "recent", "where": {"field": "year", "at_least": 2015}, "draw": 6},
                {"id": "older", "where": {"otherwise": True}, "draw": 3},
            ],
        }
    ],
    "rounds": [
        {
            "id": ROUND,
            "title": "First screen",
            "instrument": "title+abstract",
            "raters": ["ada", "ben", "rule", "oracle"],
            "adjudicators": ["cara"],
            "sample": "pilot-sample",
            "chunk_size": 3,
            "seed": 1,
        },
        {
            "id": LATER,
            "title": "Full texts",
            "instrument": "full text",
            "raters": ["ada"],
            "adjudicators": ["rule"],
        },
    ],
}


def works(folder: Path) -> Path:
    """Twelve works as CSL-JSON; the third has no abstract, the first a title that would run."""
    items = [
        {
            "id": f"w{n}",
            "type": "article-journal",
            "title": HOSTILE if n == 1 else f"Effects of treatment {n} on outcome {n}: a study",
            "author": [{"family": f"Author{n}", "given": "A"}],
            "issued": {"date-parts": [[2010 + n]]},
            "container-title": f"Journal {n % 3}",
            **(
                {}
                if n == 3
                else {"abstract": f"We assigned {100 + n} people at random. Outcome {n} changed."}
            ),
        }
        for n in range(1, 13)
    ]
    path = folder / "works.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    return path


def design(catalog: store.Catalog, folder: Path) -> tuple[str, ...]:
    """The study with its sample and its first manifest; returns the works to rate, in their order."""
    catalog.import_file(works(folder), who="keeper")
    catalog.add_study(Study.model_validate(STUDY_RECORD), SOURCE, who="keeper")
    catalog.draw_sample(STUDY, "pilot-sample", who="keeper")
    chunks = catalog.write_manifest(ROUND, who="keeper")
    return tuple(work for chunk in chunks for work in chunk.works)


def yes(work: str, *categories: str, **more: Any) -> Ballot:
    """In scope, with these categories."""
    fields = {"masking": ("double",)} if "trial" in categories else {}
    return Ballot(
        work=work, decision="in_scope", categories=categories, fields=fields, confidence="high", **more
    )


def no(work: str, **more: Any) -> Ballot:
    """Out of scope."""
    return Ballot(work=work, decision="out_of_scope", confidence="medium", **more)


def unsure(work: str) -> Ballot:
    """A vote that says nothing."""
    return Ballot(work=work, decision="unsure", confidence="low")


def cannot(work: str) -> Ballot:
    """A vote that the work can't be screened."""
    return Ballot(work=work, decision="insufficient_payload", confidence="high")


def answer(ballot: Ballot) -> dict[str, Any]:
    """A ballot as a rater answers it."""
    given: dict[str, Any] = {
        "id": ballot.work,
        "decision": ballot.decision,
        "categories": list(ballot.categories),
        "confidence": ballot.confidence,
        **{name: list(values) for name, values in ballot.fields.items()},
    }
    return given | ({"reason": ballot.reason} if ballot.reason else {})


def say(catalog: store.Catalog, rater: str, position: int, ballots: list[Ballot]) -> None:
    """A model's answer to one chunk."""
    answers = [answer(ballot) for ballot in ballots]
    meta = AnswerMeta(raw=json.dumps(answers), input_tokens=100)  # what it wrote wasn't counted
    catalog.record_answer(ROUND, position, rater, meta, answers, who="keeper")


def vote(catalog: store.Catalog, order: tuple[str, ...]) -> None:
    """Votes of every kind on nine works in three chunks.

    0 all for a trial · 1 all against · 2 they differ · 3 one for it · 4 nobody can judge · 5 nobody knows ·
    6 people only, one of them corrected · 7 one model · 8 nobody else.
    """
    w = order
    say(catalog, "rule", 1, [yes(w[0], "trial"), no(w[1]), yes(w[2], "trial", "protocol")])
    say(catalog, "oracle", 1, [yes(w[0], "trial"), no(w[1]), no(w[2], reason="No random numbers.")])
    say(catalog, "rule", 2, [no(w[3]), cannot(w[4]), unsure(w[5])])
    say(catalog, "oracle", 2, [no(w[3]), cannot(w[4]), unsure(w[5])])
    catalog.record_answer(
        ROUND, 3, "rule", AnswerMeta(raw="{nonsense"), None, problem="the answer is no JSON", who="keeper"
    )
    say(catalog, "rule", 3, [no(w[6]), yes(w[7], "openness"), no(w[8])])
    for rater, ballots in {
        "ada": [yes(w[0], "trial"), no(w[1]), yes(w[2], "trial"), no(w[3]), cannot(w[4]), unsure(w[5])],
        "ben": [
            yes(w[0], "trial", reason=SECRET_REASON),
            no(w[1]),
            no(w[2]),
            yes(w[3], "protocol"),
            cannot(w[4]),
            unsure(w[5]),
            no(w[6], reason="Read too fast."),
            yes(w[6], "protocol"),
        ],
    }.items():
        for ballot in ballots:
            catalog.cast_vote(ROUND, rater, ballot, who=rater)
    catalog.adjudicate(ROUND, "cara", w[2], "in_scope", ("trial",), "Ada is right.", who="cara")


def curve(title: str, points: list[tuple[float, float]]) -> dict[str, Any]:
    """A chart of a release's report."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": title,
        "description": "Out of fold; each point holds positives.",
        "data": {"values": [{"predicted": x, "observed": y} for x, y in points]},
        "mark": "point",
        "encoding": {
            "x": {"field": "predicted", "type": "quantitative"},
            "y": {"field": "observed", "type": "quantitative"},
            "tooltip": [
                {"field": "predicted", "type": "quantitative"},
                {"field": "observed", "type": "quantitative"},
            ],
        },
    }


def metrics(brier: float, slope: float) -> dict[str, Any]:
    """Figures as `classifiers.metrics` gives them."""

    def near(value: float) -> dict[str, float]:
        return {"value": value, "low": value - 0.1, "high": value + 0.1}

    return {
        "base_rate": 0.25,
        "mean_probability": 0.26,
        "brier": {"brier": brier, "reliability": 0.01, "resolution": 0.1, "uncertainty": 0.1875},
        "brier_skill": near(0.3),
        "log_loss": near(0.4),
        "ece_equal_mass": near(0.05),
        "ece_equal_width": near(0.06),
        "line": {"state": "fitted", "intercept": near(0.0), "slope": near(slope)},
        "average_precision": near(0.5),
        "roc_auc": near(0.8),
    }


def cell(known: int, positives: int, state: str, after: dict[str, Any] | None) -> dict[str, Any]:
    """One cell of a report."""
    return {
        "state": state,
        "counts": {"records": known, "positives": positives},
        "before": None,
        "after": after,
    }


def head_report(positives: int, calibrated: bool) -> dict[str, Any]:
    """One head and category of a report, as `classifiers.report.calibration_report` gives it."""
    return {
        "status": "available" if calibrated else "insufficient_support",
        "reason": None if calibrated else "4 positives, and 20 are needed",
        "calibrated": calibrated,
        "counts": {"known": 240, "unknown": 7, "positives": positives}
        | {"effective_positives": positives * 0.8},
        "before": metrics(0.21, 0.6) if calibrated else None,
        "after": metrics(0.13, 1.01) if calibrated else None,
        "cells": {
            "language": {
                "en": cell(200, 55, "available", metrics(0.12, 0.98)),
                "": cell(40, 5, "too_few_positives", None),
            }
        }
        if calibrated
        else {},
    }


RECORD: dict[str, Any] = {
    "parameters": {"seed": 0},
    "report": {
        "outputs": {
            "heads": {
                "rule": {"trial": head_report(60, True), "protocol": head_report(4, False)},
                "ben": {"trial": head_report(60, True)},
            }
        },
        "charts": {
            f"{kind}-{head}-trial": curve(f"{title} of {head}", points)
            for head in ("rule", "ben")
            for kind, title, points in (
                ("reliability", "Reliability", [(0.1, 0.08), (0.5, 0.55), (0.9, 0.88)]),
                ("pr", "Precision and recall", [(0.0, 1.0), (1.0, 0.25)]),
                ("roc", "ROC", [(0.0, 0.0), (0.2, 0.8), (1.0, 1.0)]),
            )
        },
    },
    "gate": {
        "rounds": [
            {"number": n, "average_precision": 0.15 + n / 100, "churn": 0.3 if n else None}
            | {"spearman": 0.97 if n else None, "panel": "rule, ben"}
            for n in range(3)
        ],
        "heads": [{"head": "rule/trial"}, {"head": "ben/trial"}],
        "verdicts": [
            {
                "gate": "published",
                "conditions": [
                    {"name": "average_precision", "passed": None, "sentence": "3 rounds; 6 are needed"},
                    {"name": "churn", "passed": False, "sentence": "churn 0.3, to be below 0.05"},
                ],
                "passed": False,
            },
            {"gate": "strict", "conditions": [], "passed": None},
        ],
    },
}


def release() -> ModelRelease:
    """Two sides, one of them a person's; the second category lacks support on one side."""

    def head(name: str, category: str, positives: int, available: bool) -> Head:
        return Head(
            name=name,
            imitates=name,
            categories=(category,),
            availability="available" if available else "insufficient_support",
            positives=positives,
            ess_positives=positives * 0.8,
            calibration="sigmoid" if available else None,
            threshold=0.5 if available else None,
        )

    return ModelRelease(
        id=RELEASE,
        title="Student of a rule and of Ben",
        version="d" * 64,
        status="score_only:v0-immature-baseline",
        maturity="not_passed",
        training_rounds=3,
        calibrated=True,
        decimals=3,
        heads=(
            head("rule", "trial", 60, True),
            head("rule", "protocol", 4, False),
            head("ben", "trial", 60, True),
            head("ben", "protocol", 30, True),
        ),
        source="trained here",
        study=STUDY,
    )


def train(catalog: store.Catalog, order: tuple[str, ...]) -> None:
    """A release, its scores of all works but the last, and its calls."""
    catalog.record_release(release(), RECORD, SOURCE, {"weights.json": b"{}"}, who="keeper")
    scored = order[:-1]
    catalog.record_scores(
        RELEASE,
        [(work, [round(0.9 - n / 10, 3), 0.1, round(0.8 - n / 10, 3), 0.2]) for n, work in enumerate(scored)],
        who="keeper",
    )

    def quota(head: str, category: str, k: int | None, supported: bool) -> Quota:
        return Quota(
            head=head,
            category=category,
            rate=None if k is None else k / len(scored),
            rate_low=None if k is None or head == "ben" else 0.1,
            rate_high=None if k is None or head == "ben" else 0.4,
            covered=len(scored),
            k=k,
            k_low=None if k is None or head == "ben" else 0,
            k_high=None if k is None or head == "ben" else k + 1,
            positives=60 if supported else 4,
            ess_positives=48.0 if supported else 3.2,
            supported=supported,
        )

    run = DecisionRun(
        id=RUN,
        release=RELEASE,
        status="machine_predicted_unvalidated",
        works=12,
        covered=len(scored),
        quotas=(
            quota("rule", "trial", 2, True),
            quota("ben", "trial", 1, True),
            quota("rule", "protocol", None, False),
            quota("ben", "protocol", None, True),
        ),
    )
    catalog.record_decisions(
        run, [(order[0], "trial", ["rule", "ben"]), (order[1], "trial", ["rule"])], who="keeper"
    )


def build(folder: Path, voted: bool = True, trained: bool = True) -> tuple[Path, tuple[str, ...]]:
    """The catalog, and the works of its first round in their order."""
    path = folder / "screening.db"
    with store.create(path, who="keeper") as catalog:
        order = design(catalog, folder)
        if voted:
            vote(catalog, order)
        if trained:
            train(catalog, order)
    return path, order
