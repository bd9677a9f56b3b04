"""What can be exported: rows in a fixed order, each with the statuses and caveats that govern it.

A row is a flat dict of str, int, None, or a list of strings (joined in CSV, a list in JSON).
"""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

from catalog import queries
from catalog.model_figures import head_of, is_calibrated
from catalog.pages import ClaimView, RunSummary

Row = dict[str, Any]
EVERY = 2**62


def works(db: sqlite3.Connection) -> Iterator[Row]:
    """Bibliographic records, by slug."""
    for slug in queries.work_slugs(db):
        work = queries.bibliographic_record(db, slug)
        yield {
            "work": work.id,
            "title": work.title,
            "authors": [a.name for a in work.authors],
            "year": work.year,
            "venue": work.venue,
            "type": work.type,
            "language": work.language,
            "identifiers": [f"{i.scheme}:{i.value}" for i in work.identifiers],
            "abstract": work.abstract.text,
            "abstract_source": work.abstract.source,
            "abstract_note": work.abstract.note,
            "retraction": work.retraction,
            "note": work.note,
        }


def claims(db: sqlite3.Connection) -> Iterator[Row]:
    """Claims of every package at its newest version, with the newest verdict on each."""
    for package in sorted(queries.artifacts(db), key=lambda a: a.slug):
        yield from claims_of_package(db, package.slug)


def claims_of(db: sqlite3.Connection, name: str) -> Iterator[Row]:
    """Claims of one package, or of all packages of one work."""
    if queries.resolve(db, name) == "package":
        yield from claims_of_package(db, name)
        return
    for package in sorted(queries.work(db, name).artifacts, key=lambda a: a.slug):
        yield from claims_of_package(db, package.slug)


def claims_of_package(db: sqlite3.Connection, slug: str) -> Iterator[Row]:
    """Published claims in the manifest's order, each followed by the findings that speak of it."""
    page = queries.artifact(db, slug)
    for view in page.claims:
        for each in (view, *view.findings):
            yield {
                "package": slug,
                "version": page.version,
                "work": page.manifest.work.id,
                **_claim(each),
                "licence": page.manifest.licence,
                "manifest_sha256": page.manifest_sha256,
                **_run(page.latest),
                "caveats": [*page.manifest.caveats, *each.claim.caveats],
            }


def _claim(view: ClaimView) -> Row:
    claim, standing, relation = view.claim, view.standing, view.claim.relation
    return {
        "claim": claim.id,
        "kind": claim.kind.value,
        "text": claim.text,
        "value": claim.value,
        "type": claim.type,
        "unit": claim.unit,
        "computed": view.observed,
        "difference": view.difference,
        "outcome": standing.outcome.value,
        "depth": standing.depth.value,
        "independent": standing.independent.value if standing.independent else None,
        "tolerance": claim.tolerance.kind,
        "tolerance_value": claim.tolerance.value,
        "tolerance_reason": claim.tolerance.reason,
        "locator": claim.locator,
        "basis": claim.basis,
        "relation": relation.kind if relation else None,
        "relation_claim": relation.claim if relation else None,
        "relation_reason": relation.reason if relation else None,
    }


def _run(run: RunSummary | None) -> Row:
    return {
        "run": run.id if run else None,
        "run_outcome": run.outcome.value if run else None,
        "run_finished_at": run.finished_at if run else None,
        "run_hash": run.hash if run else None,
    }


def scores(db: sqlite3.Connection) -> Iterator[Row]:
    """Every score as it was published, with the status of the release that made it."""
    for slug in queries.work_slugs(db, having="scores"):
        page = queries.work(db, slug)
        for view in page.releases:
            release = view.release
            for row in view.rows:
                for name, value in zip(view.heads, row.values, strict=True):
                    if value is None:
                        continue
                    head = head_of(release, name, row.category)
                    yield {
                        "work": slug,
                        "release": release.id,
                        "head": name,
                        "imitates": head.imitates if head else None,
                        "category": row.category,
                        "score": value,
                        "status": release.status,
                        "maturity": release.maturity,
                        "training_rounds": release.training_rounds,
                        "calibrated": "true" if is_calibrated(release, head) else "false",
                        "availability": head.availability if head else "unknown",
                        "source": release.source,
                        "note": release.note,
                        "caveats": list(page.screening_caveats),
                    }


def votes(db: sqlite3.Connection) -> Iterator[Row]:
    """Every vote, superseded ones too, with its rater's kind and the state of its screen."""
    for slug in queries.work_slugs(db, having="votes"):
        page = queries.work(db, slug)
        for screen in page.screens:
            for view in screen.votes:
                for vote in (view.vote, *view.superseded):
                    yield {
                        "work": slug,
                        "round": screen.round.id,
                        "study": screen.round.study,
                        "instrument": screen.round.instrument,
                        "vote": vote.id,
                        "rater": view.rater.id,
                        "rater_kind": view.rater.kind,
                        "rater_name": view.rater.name,
                        "rater_version": view.rater.version,
                        "decision": vote.decision,
                        "categories": list(vote.categories),
                        "confidence": vote.confidence,
                        "reason": vote.reason,
                        "reason_wording": vote.reason_wording,
                        "cast_at": vote.cast_at,
                        "standing": "current" if vote is view.vote else "superseded",
                        "supersedes": vote.supersedes,
                        "screen_state": screen.state.value,
                        "source": screen.round.source,
                        "note": vote.note,
                        "caveats": list(page.screening_caveats),
                    }


def verifications(db: sqlite3.Connection) -> Iterator[Row]:
    """Every run, oldest first, as it is chained."""
    for summary in sorted(queries.runs(db, limit=EVERY), key=lambda run: run.id):
        page = queries.verification(db, summary.id)
        run = page.run
        yield {
            "run": page.id,
            "package": run.artifact,
            "version": page.version,
            "work": run.work,
            "manifest_sha256": run.manifest_sha256,
            "outcome": run.outcome.value,
            "depth": run.depth.value,
            "level": run.level,
            "origin": run.origin,
            "verdict": run.verdict,
            **run.counts.model_dump(),
            "started_at": run.started_at,
            "finished_at": run.finished_at,
            "who": run.who,
            "code_version": run.code_version,
            "git_commit": run.git_commit,
            "seeds": run.seeds,
            "previous": page.previous,
            "hash": page.hash,
            "caveats": list(page.manifest.caveats),
        }


DATASETS: dict[str, Callable[[sqlite3.Connection], Iterator[Row]]] = {
    "works": works,
    "claims": claims,
    "scores": scores,
    "votes": votes,
    "verifications": verifications,
}
