"""What is done once for each work or answer takes no more steps in a large catalog than in a small one.

Steps are those of SQLite's virtual machine, which repeat; seconds don't.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from catalog import queries as catalog_queries
from catalog import screening_queries as queries
from catalog.ballots import AnswerMeta
from catalog.store import Catalog, create
from schema.ballots import Ballot
from schema.scores import Head, ModelRelease
from schema.study import Study


def steps(catalog: Catalog, act: Callable[[], object]) -> int:
    """How many tens of instructions SQLite runs meanwhile."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    catalog.connection.set_progress_handler(tick, 10)
    try:
        act()
    finally:
        catalog.connection.set_progress_handler(None, 0)
    return count


def grow(folder: Path, works: int, study: Study, bibliography: str) -> Catalog:
    """A catalog with so many works in a round, all but ten voted on by the model and scored."""
    folder.mkdir()
    (folder / "works.bib").write_text(bibliography)
    catalog = create(folder / "shelf.db", "t")
    catalog.import_file(folder / "works.bib", "t")
    catalog.add_study(study, "0" * 64, "t")
    chunks = catalog.write_manifest("screen", "t")
    assert sum(len(chunk.works) for chunk in chunks) == works
    for chunk in chunks[:-1]:
        catalog.record_answer("screen", chunk.position, "bot", AnswerMeta(raw="x"), answers(chunk), who="t")
    release = ModelRelease(
        id="m", title="M", status="score_only:v0-immature-baseline", maturity="not_passed", decimals=3,
        source="it", study="tiny",
        heads=(Head(name="bot", imitates="bot", categories=("metaresearch",)),),
    )  # fmt: skip
    catalog.record_release(release, {}, "1" * 64, {}, "t")
    catalog.record_scores("m", [(work, [0.5]) for chunk in chunks[:-1] for work in chunk.works], "t")
    return catalog


def answers(chunk: Any) -> list[dict[str, Any]]:
    return [{"id": work, "decision": "out_of_scope"} for work in chunk.works]


def measured(catalog: Catalog) -> dict[str, int]:
    db = catalog.connection
    *_, before, last = queries.manifest(db, "screen")
    work = before.works[0]
    ballot = Ballot(work=work, decision="unsure")
    return {
        "the record page": steps(catalog, lambda: catalog_queries.work(db, work)),
        "states of a work": steps(catalog, lambda: queries.category_states(db, work)),
        "states of a work in SQL": steps(
            catalog, lambda: db.execute("SELECT * FROM category_states WHERE work = ?", [work]).fetchall()
        ),
        "votes of a work in SQL": steps(
            catalog, lambda: db.execute("SELECT * FROM category_votes WHERE work = ?", [work]).fetchall()
        ),
        "scores of a work in SQL": steps(
            catalog, lambda: db.execute("SELECT * FROM scores_readable WHERE work = ?", [work]).fetchall()
        ),
        "an answer": steps(
            catalog,
            lambda: catalog.record_answer(
                "screen", last.position, "bot", AnswerMeta(raw="x"), answers(last), who="t"
            ),
        ),
        "a ballot": steps(catalog, lambda: catalog.cast_vote("screen", "ann", ballot, "ann")),
    }


def test_a_work_or_an_answer_costs_the_same_in_a_larger_catalog(
    tmp_path: Path, make_study: Callable[..., Study], bibliography: Callable[..., str]
) -> None:
    rounds = [make_study().rounds[0].model_dump() | {"sample": None, "chunk_size": 10}]
    study = make_study(rounds=rounds)
    found = []
    for works in (40, 400):
        with grow(tmp_path / f"{works}", works, study, bibliography(works)) as catalog:
            found.append(measured(catalog))
    few, many = found
    for what, small in few.items():
        assert small > 0
        # Trees are a level deeper at most; whatever reads every row would take ten times as much.
        assert many[what] <= 1.5 * small + 20, f"{what}: {small} steps, then {many[what]}"
