"""Studies, their samples, and the answers to their rounds."""

import json
import sqlite3
from collections.abc import Iterator

from catalog.lookup import all_rows, clean, no_such, one_row
from catalog.samples import stored_manifest
from catalog.screening_pages import (
    AnswerView,
    RoundView,
    SampleView,
    StratumView,
    StudyPage,
    StudySummary,
    StudyVersion,
)
from catalog.screening_queries.models import releases
from catalog.screening_queries.records import the_round
from catalog.screening_queries.rounds import round_of
from schema.ballots import ChunkManifest
from schema.study import SamplingDesign, Study


def studies(db: sqlite3.Connection) -> tuple[StudySummary, ...]:
    """Every study, in order of their names: designed here, or with published votes."""
    rows = all_rows(
        db,
        """
        SELECT n.slug, s.title, s.synthetic, s.version,
          (SELECT r.title FROM rounds r WHERE r.study = n.slug ORDER BY r.id LIMIT 1) AS published,
          (SELECT count(*) FROM rounds r WHERE r.study = n.slug) AS rounds,
          (SELECT count(*) FROM (
            SELECT m.work_id FROM rounds r JOIN chunk_works m ON m.round_id = r.id WHERE r.study = n.slug
            UNION SELECT v.work_id FROM rounds r JOIN votes v ON v.round_id = r.id WHERE r.study = n.slug
          )) AS works,
          (SELECT count(*) FROM model_releases m WHERE m.study = n.slug) AS releases
        FROM (SELECT slug FROM studies UNION SELECT study FROM rounds) n
        LEFT JOIN studies s ON s.slug = n.slug
          AND s.version = (SELECT max(version) FROM studies o WHERE o.slug = n.slug)
        ORDER BY n.slug
        """,
    )
    votes: dict[str, dict[str, int]] = {}
    for study, kind, count in db.execute(
        "SELECT r.study, t.kind, count(*) FROM votes v JOIN rounds r ON r.id = v.round_id "
        "JOIN raters t ON t.id = v.rater_id "
        "WHERE NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id) GROUP BY r.study, t.kind"
    ):
        votes.setdefault(study, {})[kind] = count
    summaries = []
    for row in rows:
        by_kind = votes.get(row["slug"], {})
        human, machine = by_kind.get("human", 0), by_kind.get("model", 0)
        summaries.append(
            StudySummary(
                slug=row["slug"], title=row["title"] or row["published"],
                synthetic=bool(row["synthetic"]),
                version=row["version"], rounds=row["rounds"], works=row["works"], votes=human + machine,
                human_votes=human, machine_votes=machine, releases=row["releases"],
            )
        )  # fmt: skip
    return tuple(summaries)


def study_page(db: sqlite3.Connection, slug: str) -> StudyPage:
    """One study with all its rounds, samples and releases."""
    versions = all_rows(
        db,
        "SELECT version, sha256, rubric_sha256, recorded_at, recorded_by, content FROM studies "
        "WHERE slug = ? ORDER BY version DESC",
        [clean(slug)],
    )
    rounds = all_rows(db, "SELECT * FROM rounds WHERE study = ? ORDER BY id", [clean(slug)])
    if not versions and not rounds:
        raise _no_study(db, slug)
    study = Study.model_validate_json(versions[0]["content"]) if versions else None
    return StudyPage(
        slug=slug,
        title=rounds[0]["title"] if study is None else study.title,
        synthetic=study is not None and study.synthetic,
        study=study,
        versions=tuple(StudyVersion(*tuple(row)[:5]) for row in versions),
        rounds=tuple(round_of(db, row) for row in rounds),
        samples=() if study is None else tuple(_sample(db, slug, design) for design in study.samples),
        releases=releases(db, slug),
        caveats=_caveats(db, slug, study),
    )


def study_record(db: sqlite3.Connection, slug: str, version: int | None = None) -> Study:
    """A study as designed, in its newest version or the one asked for."""
    row = db.execute(
        "SELECT content FROM studies WHERE slug = ? AND (? IS NULL OR version = ?) "
        "ORDER BY version DESC LIMIT 1",
        [clean(slug), version, version],
    ).fetchone()
    if row is None:
        have = [str(r[0]) for r in db.execute("SELECT version FROM studies WHERE slug = ?", [clean(slug)])]
        if have:
            raise no_such(f"version of study {slug}", str(version), sorted(have), "")
        raise _no_study(db, slug)
    return Study.model_validate_json(row[0])


def round_view(db: sqlite3.Connection, slug: str) -> RoundView:
    """One round with its raters' coverage."""
    return round_of(db, the_round(db, clean(slug)))


def manifest(db: sqlite3.Connection, round_: str) -> tuple[ChunkManifest, ...]:
    """The chunks of a round in order; empty where they aren't written yet."""
    return stored_manifest(db, the_round(db, clean(round_))["slug"])


def answers(
    db: sqlite3.Connection, round_: str, rater: str | None = None, state: str | None = None
) -> Iterator[AnswerView]:
    """Answers to a round's chunks as they came, oldest first: of one rater or state, if asked so."""
    round_id = the_round(db, clean(round_))["id"]
    after = 0
    while rows := all_rows(
        db,
        """
        SELECT a.*, k.position AS chunk, t.slug AS rater, t.kind AS rater_kind
        FROM answers a LEFT JOIN chunks k ON k.id = a.chunk_id LEFT JOIN raters t ON t.id = a.rater_id
        WHERE a.round_id = :round AND (:rater IS NULL OR t.slug = :rater)
          AND (:state IS NULL OR a.state = :state) AND a.id > :after
        ORDER BY a.id LIMIT 100
        """,
        {"round": round_id, "rater": rater, "state": state, "after": after},
    ):
        for row in rows:
            dropped = ("chunk_id", "round_id", "rater_id", "report")
            values = {name: row[name] for name in row.keys() if name not in dropped}  # noqa: SIM118
            yield AnswerView(round=round_, report=tuple(json.loads(row["report"])), **values)
        after = rows[-1]["id"]


def _no_study(db: sqlite3.Connection, slug: str) -> Exception:
    names = [r[0] for r in db.execute("SELECT slug FROM studies UNION SELECT study FROM rounds ORDER BY 1")]
    return no_such("study", slug, names, "`proofshelf screen design` adds one")


def _sample(db: sqlite3.Connection, study: str, design: SamplingDesign) -> SampleView:
    row = one_row(db, "SELECT * FROM samples WHERE study = ? AND slug = ?", [study, design.id])
    if row is None:
        return SampleView(study, design, None, None, None, (), None, None)
    strata = all_rows(
        db,
        """
        SELECT h.stratum, h.frame_size, h.drawn, (
          SELECT count(*) FROM sample_works m WHERE m.sample_id = h.sample_id AND m.stratum = h.position
            AND EXISTS (SELECT 1 FROM votes v JOIN rounds r ON r.id = v.round_id
              WHERE v.work_id = m.work_id AND r.study = :study)) AS rated
        FROM sample_strata h WHERE h.sample_id = :sample ORDER BY h.position
        """,
        {"study": study, "sample": row["id"]},
    )
    return SampleView(
        study, design, row["frame_size"], row["frame_sha256"], row["drawn"],
        tuple(
            StratumView(
                s["stratum"], s["frame_size"], s["drawn"], s["drawn"] / s["frame_size"],
                s["frame_size"] / s["drawn"] if s["drawn"] else None, s["rated"],
            )
            for s in strata
        ),
        row["recorded_at"], row["recorded_by"],
    )  # fmt: skip


def _caveats(db: sqlite3.Connection, slug: str, study: Study | None) -> tuple[str, ...]:
    rows = db.execute(
        """
        SELECT c.text FROM screening_caveats c WHERE c.artifact_id IN (
          SELECT f.artifact_id FROM files f WHERE f.sha256 IN (
            SELECT DISTINCT v.source_sha256 FROM votes v JOIN rounds r ON r.id = v.round_id
            WHERE r.study = ?))
        ORDER BY c.artifact_id, c.position
        """,
        [slug],
    ).fetchall()
    own = () if study is None else study.caveats
    return tuple(dict.fromkeys([*own, *(row[0] for row in rows)]))
