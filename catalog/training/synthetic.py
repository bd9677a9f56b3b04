"""The synthetic study of `classifiers.synthetic`, put into a catalog the way any study goes in."""

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalog import screening_queries
from catalog.ballots import AnswerMeta
from classifiers.synthetic import RATERS, SyntheticRecord, answers, records, study
from schema.work import Work

if TYPE_CHECKING:
    from catalog.store import Catalog

_NUMBER = re.compile(r"\(synthetic ([0-9]+)\)$")


@dataclass(frozen=True)
class SyntheticStudy:
    """What was put in: the study's slug, its round, and how many works, sampled works and votes it has."""

    study: str
    round: str
    works: int
    sampled: int
    votes: int


def add_synthetic_study(
    catalog: "Catalog", seed: int, works: int, french: int, other: int, who: str
) -> SyntheticStudy:
    """Import made-up works, draw the sample, write the manifest, and let the made-up raters answer.

    Everything goes through import, sampling, chunk manifests and answers, as it would with real ones.
    The same seed and sizes again change nothing.
    """
    made = {int(r.work.id.rsplit("-", 1)[1]): r for r in records(seed, works) if r.work.id is not None}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"synthetic-{seed}.json")
        text = json.dumps([_csl(record.work) for record in made.values()], ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
        catalog.import_file(path, who)
    plan = study(seed, french, other)
    catalog.add_study(plan, plan.sha256, who)
    sample, (round_,) = plan.samples[0], plan.rounds
    drawn = catalog.draw_sample(plan.id, sample.id, None, who)
    chunks = catalog.write_manifest(round_.id, who)
    known = _records_by_slug(catalog, made)
    for rater in RATERS:
        done = {a.chunk for a in screening_queries.answers(catalog.connection, round_.id, rater=rater.id)
                if a.state == "accepted"}  # fmt: skip
        for chunk in chunks:
            if chunk.position in done:
                continue
            given = [answers(seed, rater, known[slug]) | {"id": slug} for slug in chunk.works]
            meta = AnswerMeta(
                raw=json.dumps({"answers": given}, ensure_ascii=False), rater_version=f"seed {seed}"
            )
            catalog.record_answer(round_.id, chunk.position, rater.id, meta, given, None, who)
    votes = sum(len(chunk.works) for chunk in chunks) * len(RATERS)
    return SyntheticStudy(plan.id, round_.id, works, drawn.drawn, votes)


def _records_by_slug(catalog: "Catalog", made: dict[int, SyntheticRecord]) -> dict[str, SyntheticRecord]:
    """The catalog names works itself; the number in a title says which record one is."""
    found = {}
    for _, document in screening_queries.frame_documents(catalog.connection):
        number = _NUMBER.search(document.title or "")
        if number is not None and int(number[1]) in made:
            found[document.id] = made[int(number[1])]
    return found


def _csl(work: Work) -> dict[str, Any]:
    given, _, family = work.authors[0].name.partition(" ")
    item: dict[str, Any] = {
        "id": work.id, "type": "article-journal", "title": work.title, "language": work.language,
        "author": [{"given": given, "family": family}], "issued": {"date-parts": [[work.year]]},
        "note": "synthetic",
    }  # fmt: skip
    if work.venue is not None:
        item["container-title"] = work.venue
    if work.abstract.text is not None:
        item["abstract"] = work.abstract.text
    return item
