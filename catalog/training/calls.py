"""Calls by quota over everything that a release scored: rates from a round's votes, then ranks."""

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from catalog.errors import CatalogError
from catalog.screening_pages import NOT_CAST, ModelPage, RatingTable, SampleView
from catalog.screening_queries import model_page, rating_table, round_view, study_page
from catalog.screening_queries.scored import category_scores, slugs_of
from catalog.screening_statistics import prevalence_of
from classifiers.decisions import CategoryCalls, Rate, category_calls, kish_sample_size, quotas
from schema.base import canonical_json
from schema.scores import DecisionRun, Quota
from schema.states import Status


@dataclass(frozen=True)
class Decided:
    """A decision run with its rows, ready to be recorded: work, category, heads."""

    run: DecisionRun
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    warnings: tuple[str, ...]


def decide(db: sqlite3.Connection, release: str, round_: str | None = None) -> Decided:
    """Align a release's heads to the design-weighted rates of a round's votes.

    `round_` is one of the release's study with a drawn sample, or one whose manifest is every work of
    the frame; None: the only one that a rater of the release voted in. Raises CatalogError where no rate
    can be had, or nothing is scored.
    """
    page = model_page(db, release)
    if page.study is None or not page.heads:
        raise CatalogError(f"release {release} wasn't trained here, so no votes give it a rate")
    heads = {name: None for h in page.heads for name in (h.name,)}
    categories = {c: None for h in page.heads for c in h.categories}
    if not page.scored or not page.finished:
        raise CatalogError(
            f"release {release} has scored {page.scored} of {page.works} works; "
            f"`proofshelf classify score {release}` goes on"
        )
    chosen, sample = _round(db, page, round_)
    asked = round_view(db, chosen).round.categories
    made: list[Quota] = []
    rows: list[tuple[str, str, tuple[str, ...]]] = []
    warnings: list[str] = []
    for category in categories:
        if category not in asked:
            warnings.append(f"{category}: round {chosen} doesn't ask for it, so it makes no call")
            continue
        table = rating_table(db, chosen, category)
        mine = [h for h in heads if any(h == x.name and category in x.categories for x in page.heads)]
        rates = _rates(table, sample, category, mine)
        if len(rates) < len(mine):
            missing = ", ".join(h for h in mine if h not in {r.head for r in rates})
            warnings.append(f"{category}: no rate for {missing} in round {chosen}, so it makes no call")
            continue
        warnings += _incomplete(table, category, mine)
        scored = category_scores(db, release, category)
        own = quotas(rates, int(scored.works.size))
        made += own
        calls = category_calls(category, scored.place, scored.scores, own)
        if calls.supported:
            rows += _rows(db, calls, scored.works)
    if not made:
        raise CatalogError(
            f"no usable vote of round {chosen} is by a rater that {release} imitates "
            f"({', '.join(heads)}), so it gives no rate"
        )
    status = Status.MACHINE_PREDICTED.value
    run_id = _run_id(release, chosen, made)
    note = f"quotas from the votes of round {chosen}" + (
        "" if sample is None else f", sample {sample.design.id}"
    )
    run = DecisionRun(
        id=run_id, release=release, status=status, works=page.works, covered=page.scored,
        quotas=tuple(made), note=note,
    )  # fmt: skip
    return Decided(run, tuple(rows), tuple(warnings))


def _round(db: sqlite3.Connection, page: ModelPage, asked: str | None) -> tuple[str, SampleView | None]:
    assert page.study is not None
    study = study_page(db, page.study)
    heads = {h.name for h in page.heads}
    fit: list[tuple[str, SampleView | None]] = []
    for view in study.rounds:
        sample = next((s for s in study.samples if s.design.id == view.sample and s.drawn), None)
        if asked is None and not any(row.voted and row.rater.id in heads for row in view.coverage):
            continue  # it could give no rate
        if sample is not None or (view.works == page.works and view.works):
            fit.append((view.round.id, sample))
    if asked is not None:
        round_view(db, asked)
        found = [pair for pair in fit if pair[0] == asked]
        if asked not in {view.round.id for view in study.rounds}:
            raise CatalogError(
                f"round {asked} isn't one of {page.study}, whose frame the release scored, so its votes give "
                "no rate for it"
            )
        if not found:
            raise CatalogError(
                f"round {asked} has neither a drawn sample nor every work of the frame, so its votes give "
                "no rate for the frame"
            )
        return found[0]
    if len(fit) != 1:
        named = ", ".join(name for name, _ in fit) or "none"
        raise CatalogError(
            f"quotas need one round whose votes stand for the whole frame (a drawn sample, or every work); "
            f"{page.study} has: {named}; name it with --round"
        )
    return fit[0]


def _incomplete(table: RatingTable, category: str, heads: Sequence[str]) -> list[str]:
    """What the rates take for granted of works on which a rater has cast no vote, or none that is usable."""
    columns = {head: table.raters.index(head) for head in heads if head in table.raters}
    said = []
    for cell, what in ((NOT_CAST, "no vote yet"), (None, "a vote that says nothing of it")):
        counts = {head: sum(votes[at] is cell for votes in table.votes) for head, at in columns.items()}
        lacking = ", ".join(f"{number:,} by {head}" for head, number in counts.items() if number)
        if lacking:
            said.append(
                f"{category}: {what} on {lacking}, of {len(table.works):,} works of round {table.round}; "
                "rates take them to be like the others"
            )
    return said


def _rates(table: RatingTable, sample: SampleView | None, category: str, heads: Sequence[str]) -> list[Rate]:
    """The rate of each head whose rater gave usable votes, with its interval where the design gives one."""
    found = {report.rater: report.overall for report in prevalence_of(table, sample).reports}
    rates = []
    for head in heads:
        if head not in table.raters or (rate := found[head].estimate) is None:
            continue
        column = table.raters.index(head)
        weights = [
            1.0 if table.weights is None else table.weights[i]
            for i, votes in enumerate(table.votes)
            if votes[column] is True
        ]
        ends = found[head].korn_graubard
        # An end can lie a rounding beyond the rate where nothing or everything is positive.
        low = None if ends.low is None else min(ends.low, rate)
        high = None if ends.high is None else max(ends.high, rate)
        rates.append(Rate(head, category, rate, low, high, len(weights), kish_sample_size(weights)))
    return rates


def _rows(
    db: sqlite3.Connection, calls: CategoryCalls, works: np.ndarray
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    candidate = calls.candidate
    for row, slug in zip(candidate, slugs_of(db, works[candidate].tolist()), strict=True):
        sides = tuple(
            head
            for head, side in zip(calls.heads, calls.sides, strict=True)
            if side is not None and side[row]
        )
        yield slug, calls.category, sides


def _run_id(release: str, round_: str, made: Sequence[Quota]) -> str:
    """The same release, round and quotas are the same run."""
    said = [release, round_, [q.model_dump(mode="json") for q in made]]
    return f"{release}-calls-{hashlib.sha256(canonical_json(said)).hexdigest()[:8]}"
