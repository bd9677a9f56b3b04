"""Answers and votes: a chunk whole or in quarantine, nothing lost, nothing changed."""

import hashlib
import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catalog import screening_queries as queries
from catalog.ballots import AnswerMeta
from catalog.store import Catalog, CatalogError, create
from schema.ballots import Ballot
from schema.base import canonical_json
from schema.study import Study

ROOT = Path(__file__).resolve().parents[2]
META = AnswerMeta(
    raw='{"answers": "as they came"}',
    prompt_sha256="1" * 64,
    input_sha256="2" * 64,
    rater_version="2026-01-15",
    input_tokens=100,
    output_tokens=20,
    cost="0.0015",
    started_at="2026-01-01T00:00:00Z",
    finished_at="2026-01-01T00:00:09.5Z",
)


def out(work: str, **more: Any) -> dict[str, Any]:
    return {"id": work, "decision": "out_of_scope", **more}


def votes(catalog: Catalog) -> list[tuple[Any, ...]]:
    return catalog.connection.execute("SELECT * FROM votes ORDER BY id").fetchall()


def test_an_answer_is_taken_whole_with_all_that_came_with_it(studied: Catalog) -> None:
    db = studied.connection
    chunk = queries.manifest(db, "screen")[0]
    answers = [out(work, reason=f"Reason {n}") for n, work in enumerate(chunk.works)]
    answers[0] |= {"decision": "in_scope", "categories": ["metaresearch"], "domain": ["health", "physics"]}
    outcome = studied.record_answer("screen", 1, "bot", META, list(reversed(answers)), who="harness")
    assert (outcome.state, outcome.report, outcome.votes, outcome.attempt) == ("accepted", (), 4, 1)
    (answer,) = queries.answers(db, "screen")
    assert (answer.raw, answer.raw_sha256) == (META.raw, hashlib.sha256(META.raw.encode()).hexdigest())
    for name in ("prompt_sha256", "input_sha256", "rater_version", "input_tokens", "output_tokens", "cost"):
        assert getattr(answer, name) == getattr(META, name)
    assert (answer.chunk, answer.rater, answer.rater_kind, answer.state) == (1, "bot", "model", "accepted")
    rows = list(queries.vote_rows(db, "tiny"))
    # In the chunk's order, whatever order the answer had.
    assert [row.work for row in rows] == list(chunk.works)
    assert rows[0].fields == {"domain": ("health", "physics")}
    assert {row.status for row in rows} == {"machine_direct_unvalidated"}
    assert {(row.rater_version, row.reason_wording, row.cast_at) for row in rows} == {
        ("2026-01-15", "verbatim", "2026-01-01T00:00:09.5Z")
    }


def test_votes_are_named_for_what_they_are(studied: Catalog) -> None:
    """v + 24 digits of SHA-256 of the canonical JSON [round, work, rater, n], computed here by hand."""
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    names = [
        studied.cast_vote("screen", "ann", Ballot(work=work, decision="unsure"), "t"),
        studied.cast_vote("screen", "ann", Ballot(work=work, decision="out_of_scope"), "t"),
    ]
    expected = [
        "v" + hashlib.sha256(canonical_json(["screen", work, "ann", n])).hexdigest()[:24] for n in (1, 2)
    ]
    assert names == expected


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda a: a[:-1], "no answer for"),
        (
            lambda a: [*a[:-1], out("W2597652892")],
            "an answer for an id that isn't in the chunk: 'W2597652892'",
        ),
        (lambda a: [*a, a[0]], "more than one answer for"),
        (lambda a: [a[0] | {"decision": "yes"}, *a[1:]], "decision is 'yes'; expected one of"),
        (lambda a: [a[0] | {"decision": "in_scope"}, *a[1:]], "in_scope, but no category is named"),
        (lambda a: [a[0] | {"mood": "good"}, *a[1:]], "'mood' isn't asked for"),
        (lambda a: [a[0] | {"reason": "half \ud83d"}, *a[1:]], "reason holds half a character"),
        (lambda a: ["nonsense", *a[1:]], "answer 1 is no object"),
        (lambda a: None, "no answers could be read"),
    ],
)
def test_what_is_wrong_is_quarantined_whole(
    studied: Catalog, spoil: Callable[[list[Any]], list[Any] | None], sentence: str
) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    outcome = studied.record_answer("screen", 1, "bot", META, spoil([out(w) for w in chunk.works]), who="t")
    assert (outcome.state, outcome.votes) == ("quarantined", 0)
    assert any(sentence in line for line in outcome.report)
    assert votes(studied) == []
    (kept,) = queries.answers(studied.connection, "screen", "bot", "quarantined")
    assert kept.raw == META.raw
    assert kept.report == outcome.report
    # The chunk is asked again: the next attempt is counted, and can be taken.
    again = studied.record_answer("screen", 1, "bot", META, [out(w) for w in chunk.works], who="t")
    assert (again.state, again.attempt) == ("accepted", 2)


def test_no_answer_is_a_state_of_its_own(studied: Catalog) -> None:
    outcome = studied.record_answer("screen", 1, "bot", AnswerMeta(raw=None), None, "timed out", "t")
    assert (outcome.state, outcome.report) == ("failed", ("timed out",))
    coverage = queries.round_view(studied.connection, "screen").coverage[2]
    assert (coverage.failed, coverage.quarantined, coverage.accepted, coverage.voted) == (1, 0, 0, 0)
    assert coverage.cost is None  # nobody named one: unknown, not nought


def test_an_answer_is_accepted_once(studied: Catalog) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    answers = [out(w) for w in chunk.works]
    studied.record_answer("screen", 1, "bot", META, answers, who="t")
    before = votes(studied)
    second = studied.record_answer("screen", 1, "bot", META, answers, who="t")
    assert second.state == "quarantined"
    assert "bot has voted on 4 of its 4 works already" in second.report[0]
    assert votes(studied) == before


def test_a_ballot_cast_before_keeps_the_rest_of_the_chunk_from_being_taken_as_one(studied: Catalog) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    studied.cast_vote("screen", "ann", Ballot(work=chunk.works[2], decision="unsure"), "ann")
    outcome = studied.record_answer("screen", 1, "ann", META, [out(w) for w in chunk.works], who="t")
    assert outcome.report == ("ann has voted on 1 of its 4 works already; a correction says why",)


def test_half_a_character_is_kept_as_its_escape(studied: Catalog) -> None:
    studied.record_answer("screen", 1, "bot", AnswerMeta(raw="half \ud83d"), None, "no JSON \ud83d", "t")
    (kept,) = queries.answers(studied.connection, "screen")
    assert kept.raw == r"half \ud83d"
    assert kept.report == (r"no JSON \ud83d",)
    assert studied.audit().problems == ()


def test_unknown_places(studied: Catalog) -> None:
    for call, sentence in (
        (lambda: studied.record_answer("none", 1, "bot", META, []), "there is no round 'none' here"),
        (lambda: studied.record_answer("screen", 9, "bot", META, []), "has no chunk 9; it has 3"),
        (
            lambda: studied.record_answer("screen", 1, "judge", META, []),
            "'judge' is no rater of round screen",
        ),
        (
            lambda: studied.record_answer("screen", 1, "bot", AnswerMeta("x", finished_at="now"), None, "no"),
            "'now' is no time",
        ),
    ):
        with pytest.raises(CatalogError, match=sentence):
            call()
    assert studied.connection.execute("SELECT count(*) FROM answers").fetchone() == (0,)


# Single ballots --------------------------------------------------------------------------------------


def test_a_person_votes_and_votes_again(studied: Catalog) -> None:
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    first = studied.cast_vote("screen", "ann", Ballot(work=work, decision="unsure", reason="Hm."), "ann")
    again = studied.cast_vote("screen", "ann", Ballot(work=work, decision="unsure", reason="Hm."), "ann")
    assert again == first  # pressed twice: one vote
    second = studied.cast_vote("screen", "ann", Ballot(work=work, decision="out_of_scope"), "ann")
    rows = {row.vote: row for row in queries.vote_rows(studied.connection, "tiny")}
    assert rows[first].superseded_by == second
    assert rows[second].superseded_by is None
    assert rows[first].reason == "Hm."
    assert {row.status for row in rows.values()} == {"human_direct"}


def test_what_no_ballot_can_be(studied: Catalog) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    work = chunk.works[0]
    outside = next(
        slug
        for (slug,) in studied.connection.execute("SELECT slug FROM works ORDER BY id")
        if slug not in {w for c in queries.manifest(studied.connection, "screen") for w in c.works}
    )
    for rater, ballot, sentence in (
        ("ann", Ballot(work=outside, decision="unsure"), "is no work of round screen's manifest"),
        ("ann", Ballot(work="nobody", decision="unsure"), "is no work of round screen's manifest"),
        ("ann", Ballot(work=work, decision="in_scope", categories=("sts",)), "no category of the rubric"),
        ("ann", Ballot(work=work, decision="unsure", fields={"x": ("y",)}), "'x' isn't asked for"),
        ("bot", Ballot(work=work, decision="unsure"), "bot is a model"),
        ("judge", Ballot(work=work, decision="unsure"), "'judge' is no rater"),
    ):
        with pytest.raises(CatalogError, match=sentence):
            studied.cast_vote("screen", rater, ballot, "t")
    assert votes(studied) == []


def test_the_database_itself_asks_for_manifest_and_rater(studied: Catalog) -> None:
    inside, outside = (
        studied.connection.execute(
            f"SELECT id FROM works WHERE id {where} (SELECT work_id FROM chunk_works) LIMIT 1"
        ).fetchone()[0]
        for where in ("IN", "NOT IN")
    )
    ids = dict(studied.connection.execute("SELECT slug, id FROM raters"))
    for work, rater, sentence in (
        (outside, "ann", "needs a chunk manifest"),
        (inside, "judge", "is cast by one of its raters"),
    ):
        with pytest.raises(sqlite3.IntegrityError, match=sentence):
            studied.connection.execute(
                "INSERT INTO votes(slug, round_id, work_id, rater_id, decision, categories, source_sha256, "
                "recorded_at, recorded_by) VALUES ('x', 1, ?, ?, 'unsure', '[]', 's', 't', 't')",
                [work, ids[rater]],
            )


def test_a_work_that_was_voted_on_is_not_put_off(studied: Catalog) -> None:
    work = queries.manifest(studied.connection, "screen")[0].works[0]
    studied.cast_vote("screen", "ann", Ballot(work=work, decision="unsure"), "ann")
    with pytest.raises(CatalogError, match=r"ann has voted on .* already"):
        studied.skip("screen", "ann", work, "ann")
    studied.skip("screen", "ben", work, "ben")
    with pytest.raises(CatalogError, match="bot is a model"):
        studied.skip("screen", "bot", work, "t")


# Files of votes --------------------------------------------------------------------------------------


def table(path: Path, rows: list[str], header: str = "work,decision,categories,domain") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_file_of_votes_is_taken_chunk_by_chunk(studied: Catalog, tmp_path: Path) -> None:
    first, second, third = queries.manifest(studied.connection, "screen")
    rows = [f"{first.works[0]},in_scope,metaresearch;open-science,health; physics"]
    rows += [f"{w},out_of_scope,," for w in first.works[1:]]
    rows += [f"{w},out_of_scope,," for w in second.works[1:]]  # one work is missing
    rows += [f"{w},perhaps,," for w in third.works]
    rows += ["W1,out_of_scope,,"]
    path = table(tmp_path / "ann.csv", rows)
    report = studied.import_votes(path, "screen", "ann", who="t")
    assert (report.read, report.taken, report.unchanged, report.refused) == (10, 4, 0, 6)
    assert report.chunks == {"accepted": 1, "unchanged": 0, "quarantined": 2}
    said = "\n".join(report.problems)
    assert "ann.csv line 11: 'W1' is no work of round screen's manifest" in said
    assert f"chunk 2 of ann (from line 6): no answer for '{second.works[0]}'" in said
    assert "decision is 'perhaps'" in said
    kept = list(queries.answers(studied.connection, "screen", state="quarantined"))
    assert [answer.chunk for answer in kept] == [None, 2, 3]
    assert kept[0].line == 11
    assert '"W1"' in (kept[0].raw or "")
    row = next(queries.vote_rows(studied.connection, "tiny"))
    assert (row.categories, row.fields) == (
        ("metaresearch", "open-science"),
        {"domain": ("health", "physics")},
    )
    # When these people voted isn't known, so nothing is said of it.
    assert row.cast_at is None

    # The same file again: what is here stays, and what was refused is kept once.
    rejects = studied.connection.execute("SELECT count(*) FROM answers WHERE chunk_id IS NULL").fetchone()
    again = studied.import_votes(path, "screen", "ann", who="t")
    assert (again.taken, again.unchanged, again.refused) == (0, 4, 6)
    assert again.chunks["unchanged"] == 1
    assert studied.connection.execute(
        "SELECT count(*) FROM answers WHERE chunk_id IS NULL").fetchone() == rejects  # fmt: skip


def test_a_correction_names_its_reason_and_supersedes_what_differs(studied: Catalog, tmp_path: Path) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    rows = [f"{w},out_of_scope,," for w in chunk.works]
    studied.import_votes(table(tmp_path / "one.csv", rows), "screen", "ann", who="t")
    changed = table(tmp_path / "two.csv", [f"{chunk.works[0]},unsure,,", *rows[1:]])
    refused = studied.import_votes(changed, "screen", "ann", who="t")
    assert refused.chunks["quarantined"] == 1
    assert "a correction says why" in refused.problems[0]
    taken = studied.import_votes(changed, "screen", "ann", supersede="read again", who="t")
    assert (taken.taken, taken.unchanged) == (1, 3)
    rows_now = list(queries.vote_rows(studied.connection, "tiny"))
    corrected = [row for row in rows_now if row.superseded_by]
    assert [(row.work, row.decision) for row in corrected] == [(chunk.works[0], "out_of_scope")]
    assert rows_now[-1].note == "read again"
    (answer,) = [a for a in queries.answers(studied.connection, "screen") if a.correction]
    assert (answer.state, answer.correction) == ("accepted", "read again")


def test_a_file_of_several_raters(studied: Catalog, tmp_path: Path) -> None:
    chunk = queries.manifest(studied.connection, "screen")[0]
    rows = [json.dumps({"work": w, "rater": r, "decision": "out_of_scope"})
            for r in ("ann", "ben", "eve") for w in chunk.works]  # fmt: skip
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join([*rows, '{"work": "half']) + "\n")
    report = studied.import_votes(path, "screen", who="t")
    assert (report.read, report.taken, report.refused) == (13, 8, 5)
    assert any("'eve' is no rater of round screen" in line for line in report.problems)
    given = studied.import_votes(path, "screen", "ann", who="t")
    assert any("the row is of 'ben', but the file was given as that of 'ann'" in p for p in given.problems)


def test_a_file_needs_a_manifest_and_a_place(
    catalog: Catalog, make_study: Callable[..., Study], tmp_path: Path
) -> None:
    catalog.add_study(make_study(), "a" * 64, "t")
    path = table(tmp_path / "a.csv", ["w,unsure,,"])
    with pytest.raises(CatalogError, match="its manifest isn't written yet"):
        catalog.import_votes(path, "screen", "ann", who="t")
    with pytest.raises(CatalogError, match="name one"):
        catalog.import_votes(path, who="t")
    with pytest.raises(CatalogError, match="there is no such file"):
        catalog.import_votes(tmp_path / "none.csv", "screen", "ann", who="t")


# The same input, the same rows -----------------------------------------------------------------------


def dump(catalog: Catalog) -> list[tuple[Any, ...]]:
    """Every row of screening, without times."""
    found = []
    for name in ("sample_works", "chunks", "chunk_works", "answers", "votes", "adjudications"):
        columns = [row[1] for row in catalog.connection.execute(f"PRAGMA table_info({name})")]
        kept = ", ".join(c for c in columns if not c.endswith("_at"))
        found += catalog.connection.execute(f"SELECT {kept} FROM {name} ORDER BY 1, 2").fetchall()
    return found


def test_the_same_input_gives_the_same_rows(
    tmp_path: Path, make_study: Callable[..., Study], bibliography: Callable[..., str]
) -> None:
    dumps = []
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "b.bib").write_text(bibliography(20))
        with create(folder / "shelf.db", "t") as catalog:
            catalog.import_file(folder / "b.bib", "t")
            catalog.add_study(make_study(), "a" * 64, "t")
            catalog.draw_sample("tiny", "first", who="t")
            for chunk in catalog.write_manifest("screen", "t"):
                answers = [out(work) for work in chunk.works]
                catalog.record_answer("screen", chunk.position, "bot", META, answers, who="t")
            dumps.append(dump(catalog))
    assert dumps[0] == dumps[1]
    assert len(dumps[0]) > 20


# Killed ----------------------------------------------------------------------------------------------

RATING = """
import sys
from catalog.ballots import AnswerMeta
from catalog.store import open_catalog
from catalog import screening_queries
with open_catalog(sys.argv[1], writable=True) as catalog:
    print("ready", flush=True)
    for chunk in screening_queries.manifest(catalog.connection, "screen"):
        answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
        catalog.record_answer("screen", chunk.position, "bot", AnswerMeta(raw="x"), answers, who="t")
        print(chunk.position, flush=True)
"""


def test_a_killed_process_leaves_whole_chunks(
    shelf: Catalog, make_study: Callable[..., Study], bibliography: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "more.bib").write_text(bibliography(300, 20))
    shelf.import_file(tmp_path / "more.bib", "t")
    rounds = [make_study().rounds[0].model_dump() | {"sample": None, "chunk_size": 5}]
    shelf.add_study(make_study(rounds=rounds), "a" * 64, "t")
    assert len(shelf.write_manifest("screen", "t")) == 64
    process = subprocess.Popen(
        [sys.executable, "-c", RATING, str(shelf.path)], cwd=ROOT, stdout=subprocess.PIPE, bufsize=0
    )
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(6)]
    process.send_signal(signal.SIGKILL)
    said += process.communicate(timeout=60)[0].decode().split("\n")[:-1]
    db = shelf.connection
    done = db.execute("SELECT count(*) FROM answers").fetchone()[0]
    # What it said is here, and at most one chunk more, of which it could not speak any more.
    assert len(said) - 1 <= done <= len(said)
    assert done < 64
    assert db.execute("SELECT count(*) FROM votes").fetchone()[0] == 5 * done
    assert shelf.audit().problems == ()
    coverage = queries.round_view(db, "screen").coverage[2]
    assert (coverage.chunks_done, coverage.voted) == (done, 5 * done)
