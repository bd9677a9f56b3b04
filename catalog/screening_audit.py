"""Whether screening is as it was written: hashes, orders, weights and counts computed again from the rows."""

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Iterator

from catalog.adjudication import adjudication_name
from catalog.ballots import vote_name
from catalog.rows import text_sha256
from catalog.samples import drawn_sample, stored_manifest
from classifiers.sampling import hash_order
from schema.ballots import chunk_sha256
from schema.study import Study

SHOWN = 20


def screening_problems(connection: sqlite3.Connection) -> Iterator[str]:
    """One sentence for each thing that isn't as it was written."""
    studies: dict[int, Study] = {}
    parts = (
        ("studies", _studies(connection, studies)),
        ("rounds", _rounds(connection, studies)),
        ("samples", _samples(connection, studies)),
        ("manifests", _manifests(connection)),
        ("answers", _answers(connection)),
        ("votes", _names(connection)),
        ("scorings", _scorings(connection)),
        ("decision runs", _runs(connection)),
    )
    for what, problems in parts:
        try:
            yield from problems
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
            yield f"{what} can't be read as they were written ({type(error).__name__}): a row was edited"


def _studies(connection: sqlite3.Connection, read: dict[int, Study]) -> Iterator[str]:
    """Versions of studies against their hash; those that hold go into `read`."""
    for study_id, slug, version, sha256, content in connection.execute(
        "SELECT id, slug, version, sha256, content FROM studies ORDER BY id"
    ).fetchall():
        if text_sha256(content) != sha256:
            yield f"study {slug} (version {version}) was edited: its content doesn't give its hash"
        else:
            read[study_id] = Study.model_validate_json(content)


def _rounds(connection: sqlite3.Connection, read: dict[int, Study]) -> Iterator[str]:
    """Rounds against the version of the study that brought them."""
    studies = {(study.id, study.sha256): study for study in read.values()}
    for row in connection.execute(
        "SELECT id, slug, study, study_sha256, title, instrument, panel, categories, rubric_sha256, cannot "
        "FROM rounds WHERE origin = 'harness' ORDER BY id"
    ).fetchall():
        round_id, slug, name, sha256, *stored = row
        study = studies.get((name, sha256))
        if study is None or slug not in {plan.id for plan in study.rounds}:
            yield f"round {slug}: the version of study {name} that brought it isn't here"
            continue
        plan = study.round(slug)
        categories = json.dumps([c.id for c in study.rubric.categories], ensure_ascii=False)
        planned = [
            plan.title, plan.instrument, len(plan.raters), categories, study.rubric.sha256,
            study.rubric.cannot,
        ]  # fmt: skip
        people = {
            role: tuple(
                slug
                for (slug,) in connection.execute(
                    "SELECT t.slug FROM round_raters m JOIN raters t ON t.id = m.rater_id "
                    "WHERE m.round_id = ? AND m.role = ? ORDER BY m.position",
                    [round_id, role],
                )
            )
            for role in ("rater", "adjudicator")
        }
        if stored != planned or (people["rater"], people["adjudicator"]) != (plan.raters, plan.adjudicators):
            yield f"round {slug} was edited: it isn't as its study has it"


def _samples(connection: sqlite3.Connection, studies: dict[int, Study]) -> Iterator[str]:
    """Samples: design, sizes, the order of the draw, probabilities n / N and weights N / n."""
    for sample_id, name, slug, study_id, design, sha256, frame_size, drawn in connection.execute(
        "SELECT id, study, slug, study_id, design, design_sha256, frame_size, drawn FROM samples ORDER BY id"
    ).fetchall():
        what = f"sample {slug} of study {name}"
        known = studies.get(study_id)
        if text_sha256(design) != sha256 or known is None or slug not in {d.id for d in known.samples}:
            yield f"{what} was edited: its design isn't the study's"
            continue
        sample = drawn_sample(connection, name, slug)
        assert sample is not None
        sizes = (sum(s.frame_size for s in sample.strata), sum(s.drawn for s in sample.strata))
        counts = Counter(record.stratum for record in sample.records)
        if sizes != (frame_size, drawn) or any(counts[s.name] != s.drawn for s in sample.strata):
            yield f"{what} was edited: its works aren't as many as its strata say"
            continue
        for stratum in sample.strata:
            ids = [record.id for record in sample.records if record.stratum == stratum.name]
            if ids != hash_order(ids, sample.salt):
                yield f"{what} was edited: stratum {stratum.name} isn't in the order of the draw"
        stored = {
            (work, inclusion, weight)
            for work, inclusion, weight in connection.execute(
                "SELECT w.slug, m.inclusion_probability, m.weight FROM sample_works m "
                "JOIN works w ON w.id = m.work_id WHERE m.sample_id = ?",
                [sample_id],
            )
        }
        if stored != {(r.id, float(r.inclusion), float(r.weight)) for r in sample.records}:
            yield f"{what} was edited: a weight isn't the size of its stratum over what was drawn of it"


def _manifests(connection: sqlite3.Connection) -> Iterator[str]:
    """Chunks: each hash again, positions without a gap."""
    counts = {
        (round_, position): works
        for round_, position, works in connection.execute(
            "SELECT r.slug, k.position, k.works FROM chunks k JOIN rounds r ON r.id = k.round_id"
        )
    }
    for (round_,) in connection.execute(
        "SELECT slug FROM rounds WHERE id IN (SELECT round_id FROM chunks) ORDER BY id"
    ).fetchall():
        chunks = stored_manifest(connection, round_)
        positions = sorted(position for name, position in counts if name == round_)
        if positions != list(range(1, len(positions) + 1)):
            yield f"the manifest of round {round_} was edited: a chunk was removed"
        for chunk in chunks:
            if chunk_sha256(round_, chunk.position, chunk.works) != chunk.sha256:
                yield f"chunk {chunk.position} of round {round_} was edited: its works don't give its hash"
            elif counts[round_, chunk.position] != len(chunk.works):
                yield f"chunk {chunk.position} of round {round_} was edited: it counts other works"


def _answers(connection: sqlite3.Connection) -> Iterator[str]:
    """Answers: each hash again; one that was accepted has all its votes."""
    for answer_id, raw, sha256 in connection.execute(
        "SELECT id, raw, raw_sha256 FROM answers WHERE raw IS NOT NULL ORDER BY id"
    ):
        if hashlib.sha256(raw.encode("utf-8")).hexdigest() != sha256:
            yield f"answer {answer_id} was edited: what was said doesn't give its hash"
    for answer_id, votes, works in connection.execute(
        "SELECT a.id, (SELECT count(*) FROM votes v WHERE v.answer_id = a.id) AS votes, k.works "
        "FROM answers a JOIN chunks k ON k.id = a.chunk_id WHERE a.state = 'accepted' "
        "AND a.correction IS NULL AND votes != k.works ORDER BY a.id LIMIT ?",
        [SHOWN],
    ).fetchall():
        yield f"answer {answer_id} was accepted with {works} votes, but {votes} are here"


def _names(connection: sqlite3.Connection) -> Iterator[str]:
    """Votes and adjudications taken here are named for what they are, so that none is renamed or moved."""
    seen: Counter[tuple[str, ...]] = Counter()
    for slug, round_, work, rater in connection.execute(
        "SELECT v.slug, r.slug, w.slug, t.slug FROM votes v JOIN rounds r ON r.id = v.round_id "
        "JOIN works w ON w.id = v.work_id JOIN raters t ON t.id = v.rater_id "
        "WHERE r.origin = 'harness' ORDER BY v.id"
    ):
        seen[round_, work, rater] += 1
        if slug != vote_name(round_, work, rater, seen[round_, work, rater]):
            yield f"vote {slug} was edited: its round, work, rater and number don't give its name"
    for slug, round_, work in connection.execute(
        "SELECT a.slug, r.slug, w.slug FROM adjudications a JOIN rounds r ON r.id = a.round_id "
        "JOIN works w ON w.id = a.work_id ORDER BY a.id"
    ):
        seen[round_, work] += 1
        if slug != adjudication_name(round_, work, seen[round_, work]):
            yield f"adjudication {slug} was edited: its round, work and number don't give its name"


def _scorings(connection: sqlite3.Connection) -> Iterator[str]:
    """A scoring that ended has as many scores as it says."""
    there = {
        (release_id, number): (works, scores)
        for release_id, number, works, scores in connection.execute(
            "SELECT h.release_id, s.scoring, count(DISTINCT s.work_id), count(*) FROM scores s "
            "JOIN heads h ON h.id = s.head_id WHERE s.scoring > 0 GROUP BY h.release_id, s.scoring"
        )
    }
    for release_id, release, number, works, scores in connection.execute(
        "SELECT m.id, m.slug, f.number, f.works, f.scores FROM scorings f "
        "JOIN model_releases m ON m.id = f.release_id ORDER BY m.id, f.number"
    ).fetchall():
        have = there.get((release_id, number), (0, 0))
        if have != (works, scores):
            yield (
                f"scoring {number} of release {release} ended with {scores} scores of {works} works, "
                f"but {have[1]} of {have[0]} are here"
            )


def _runs(connection: sqlite3.Connection) -> Iterator[str]:
    """A decision run has the calls that it counts, and each head its k of them."""
    sides: Counter[tuple[int, str, str]] = Counter()
    calls: Counter[tuple[int, str, str]] = Counter()
    for run_id, category, call, heads in connection.execute(
        "SELECT run_id, category, call, sides FROM decisions"
    ):
        calls[run_id, category, call] += 1
        sides.update((run_id, category, head) for head in json.loads(heads))
    for run_id, slug, counts, quotas in connection.execute(
        "SELECT id, slug, counts, quotas FROM decision_runs ORDER BY id"
    ).fetchall():
        counted = {
            (run_id, category, call): n
            for category, by_call in json.loads(counts).items()
            for call, n in by_call.items()
        }
        taken = {(run_id, q["head"], q["category"], q["k"]) for q in json.loads(quotas) if q["k"] is not None}
        if any(calls[key] != n for key, n in counted.items()) or any(
            sides[run_id, category, head] != k for _, head, category, k in taken
        ):
            yield f"decision run {slug} was edited: its calls aren't as many as it counts"
