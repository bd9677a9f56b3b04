"""Releases, their scorings and their calls."""

import json
import sqlite3

from catalog.frames import frame_size, in_frame, is_synthetic, newest_study
from catalog.lookup import all_rows, clean, known_work, no_such, one_row
from catalog.model_figures import calibration_words, maturity_words
from catalog.scorings import covered
from catalog.screening_pages import (
    CallRow,
    DecisionRunView,
    DecisionView,
    ModelPage,
    ReleaseFile,
    ReleaseSummary,
)
from catalog.screening_queries.records import release_record
from schema.scores import DecisionRun
from schema.states import call, category_vote


def releases(db: sqlite3.Connection, study: str | None = None) -> tuple[ReleaseSummary, ...]:
    """Every release (of one study), newest first."""
    rows = all_rows(
        db, "SELECT * FROM model_releases WHERE ? IS NULL OR study = ? ORDER BY id DESC", [study, study]
    )
    found = []
    for row in rows:
        record = release_record(db, row)
        found.append(
            ReleaseSummary(
                slug=record.id, title=record.title, status=record.status, maturity=record.maturity,
                study=record.study, calibrated=record.calibrated,
                calibration=calibration_words(record),
                gate=maturity_words(record),
                synthetic=is_synthetic(newest_study(db, record.study)),
                heads=tuple(dict.fromkeys(head.name for head in record.heads)),
                finished=_finished(db, row), scored=covered(db, row["id"]),
                works=frame_size(db, newest_study(db, record.study)),
            )
        )  # fmt: skip
    return tuple(found)


def model_page(db: sqlite3.Connection, release: str) -> ModelPage:
    """One release."""
    row = one_row(db, "SELECT * FROM model_releases WHERE slug = ?", [clean(release)])
    if row is None:
        names = [r[0] for r in db.execute("SELECT slug FROM model_releases ORDER BY slug")]
        raise no_such("release", release, names, "`proofshelf classify train` makes one")
    record = release_record(db, row)
    files = db.execute(
        "SELECT path, bytes, sha256 FROM release_files WHERE release_id = ? ORDER BY path", [row["id"]]
    )
    runs = all_rows(db, "SELECT * FROM decision_runs WHERE release_id = ? ORDER BY id DESC", [row["id"]])
    return ModelPage(
        release=record,
        study=record.study,
        record=None if row["record"] is None else json.loads(row["record"]),
        heads=record.heads,
        files=tuple(ReleaseFile(*file) for file in files),
        finished=_finished(db, row),
        scored=covered(db, row["id"]),
        works=frame_size(db, newest_study(db, record.study)),
        runs=tuple(
            DecisionRunView(
                run=_run(run, record.id),
                counts={
                    category: (counts["consensus"], counts["candidate"])
                    for category, counts in json.loads(run["counts"]).items()
                },
                thresholds=json.loads(run["thresholds"]),
                recorded_at=run["recorded_at"],
                recorded_by=run["recorded_by"],
            )
            for run in runs
        ),
        source_sha256=row["source_sha256"],
        recorded_at=row["recorded_at"],
        recorded_by=row["recorded_by"],
    )


def work_decisions(db: sqlite3.Connection, work: str) -> tuple[DecisionView, ...]:
    """What the newest decision run of each release says of a work, releases in order of their making.

    A work outside the frame of a release's study is none of those that it was to call, so nothing is said.
    """
    known = known_work(db, work)
    runs = all_rows(
        db,
        "SELECT d.*, m.slug AS release, m.study FROM decision_runs d "
        "JOIN model_releases m ON m.id = d.release_id "
        "WHERE d.id = (SELECT max(o.id) FROM decision_runs o WHERE o.release_id = d.release_id) "
        "ORDER BY d.release_id",
    )
    said = (_decisions(db, run, known.id) for run in runs)
    return tuple(view for view in said if view is not None)


def _decisions(db: sqlite3.Connection, run: sqlite3.Row, work_id: int) -> DecisionView | None:
    study = newest_study(db, run["study"])
    scores = dict(
        db.execute(
            "SELECT head_id, value FROM scores_shown WHERE work_id = ? AND release_id = ? AND scoring <= ?",
            [work_id, run["release_id"], run["scoring"]],
        ).fetchall()
    )
    if not scores and not in_frame(db, study, work_id):
        return None
    heads: dict[str, dict[str, sqlite3.Row]] = {}
    for cell in all_rows(db, "SELECT * FROM heads WHERE release_id = ? ORDER BY id", [run["release_id"]]):
        heads.setdefault(cell["category"], {})[cell["name"]] = cell
    may_call = {
        (quota["head"], quota["category"]) for quota in json.loads(run["quotas"]) if quota["k"] is not None
    }
    taken: dict[str, list[str]] = {
        category: json.loads(sides)
        for category, sides in db.execute(
            "SELECT category, sides FROM decisions WHERE work_id = ? AND run_id = ?", [work_id, run["id"]]
        )
    }
    thresholds = json.loads(run["thresholds"])
    rows = []
    for category, cells in heads.items():
        sides = {
            name: (name in taken.get(category, [])) if (name, category) in may_call else None
            for name in cells
        }
        values = {name: scores.get(cell["id"]) for name, cell in cells.items()}
        direct = {
            name: _direct(db, run["study"], name, cell["imitates"], work_id, category)
            for name, cell in cells.items()
        }
        limits = {name: thresholds.get(name, {}).get(category) for name in cells}
        rows.append(
            CallRow(
                category=category,
                call=call(list(sides.values()), covered=bool(scores)),
                sides=sides,
                disagreement=_disagreement(values, direct),
                uncertainty=_uncertainty(values, limits),
            )
        )
    return DecisionView(
        run=run["slug"], release=run["release"], status=run["status"], covered=bool(scores),
        calls=tuple(rows), works=run["works"], works_covered=run["covered"],
        synthetic=is_synthetic(study),
    )  # fmt: skip


def _direct(
    db: sqlite3.Connection, study: str | None, name: str, imitates: str | None, work_id: int, category: str
) -> bool | None:
    """The newest current vote on a category by the rater whom a head imitates, in the head's study.

    A head says by a rater's id whom it imitates, or has that id for its name and says it in words.
    """
    row = db.execute(
        "SELECT v.decision, v.categories, r.cannot FROM votes v JOIN rounds r ON r.id = v.round_id "
        "JOIN raters t ON t.id = v.rater_id, json_each(r.categories) c "
        "WHERE v.work_id = ? AND r.study = ? AND c.value = ? "
        "AND t.slug = coalesce((SELECT slug FROM raters WHERE slug = ?), ?) "
        "AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id) ORDER BY v.id DESC LIMIT 1",
        [work_id, study, category, imitates, name],
    ).fetchone()
    return None if row is None else category_vote(row[0], json.loads(row[1]), category, row[2])


def _disagreement(values: dict[str, float | None], direct: dict[str, bool | None]) -> float | None:
    # Imported here: numpy is needed for no other page.
    from classifiers.decisions import disagreement

    both = [
        (value, float(said)) for name, value in values.items()
        if value is not None and (said := direct[name]) is not None
    ]  # fmt: skip
    if not both:
        return None
    return float(disagreement([[value for value, _ in both]], [[said for _, said in both]])[0])


def _uncertainty(values: dict[str, float | None], limits: dict[str, float | None]) -> float | None:
    from classifiers.decisions import threshold_uncertainty

    both = [
        (value, limit) for name, value in values.items()
        if value is not None and (limit := limits[name]) is not None
    ]  # fmt: skip
    if not both or not all(0 <= number <= 1 for pair in both for number in pair):
        return None  # a score that is no probability has no distance to a threshold
    return float(threshold_uncertainty([[value for value, _ in both]], [limit for _, limit in both])[0])


def _run(row: sqlite3.Row, release: str) -> DecisionRun:
    return DecisionRun(
        id=row["slug"], release=release, rule=row["rule"], status=row["status"], works=row["works"],
        covered=row["covered"], quotas=json.loads(row["quotas"]), note=row["note"],
    )  # fmt: skip


def _finished(db: sqlite3.Connection, release: sqlite3.Row) -> bool:
    """Whether its scores show: a package's came whole, one trained here has a scoring that ended."""
    if release["record"] is None:
        return True
    row = db.execute("SELECT 1 FROM scorings WHERE release_id = ? LIMIT 1", [release["id"]]).fetchone()
    return row is not None
