"""Rows of screening as the records of `schema` that they were written from."""

import json
import sqlite3
from collections.abc import Sequence

from catalog.lookup import all_rows, no_such, one_row
from schema.rubric import Rubric
from schema.scores import Head, ModelRelease
from schema.screening import Rater, Round, Vote
from schema.study import RoundPlan, Study


def rater_record(row: sqlite3.Row, prefix: str = "") -> Rater:
    """A rater from a row with the columns of `raters`, each named with the prefix."""
    fields = ("kind", "name", "version", "model", "note")
    return Rater(id=row[f"{prefix}slug"], **{field: row[f"{prefix}{field}"] for field in fields})


RATER_COLUMNS = ", ".join(f"t.{c} AS rater_{c}" for c in ("slug", "kind", "name", "version", "model", "note"))
"""Columns of `raters t` for `rater_record(row, "rater_")`."""


def the_round(db: sqlite3.Connection, slug: str) -> sqlite3.Row:
    """The row of a round. Raises NotFound."""
    row = one_row(db, "SELECT * FROM rounds WHERE slug = ?", [slug])
    if row is None:
        names = [r[0] for r in db.execute("SELECT slug FROM rounds ORDER BY slug")]
        raise no_such("round", slug, names, "`proofshelf screen design` adds a study with its rounds")
    return row


def round_record(row: sqlite3.Row) -> Round:
    """A round from its row."""
    fields = (
        "study", "title", "instrument", "rubric_sha256", "panel", "works_screened", "frame_size", "source",
        "licence", "note", "origin", "study_sha256",
    )  # fmt: skip
    values = {field: row[field] for field in fields}
    return Round(id=row["slug"], categories=tuple(json.loads(row["categories"])), **values)


def round_study(db: sqlite3.Connection, row: sqlite3.Row) -> tuple[Study, RoundPlan] | None:
    """The version of the study that brought a round, and its plan; None for a published round."""
    if row["origin"] != "harness":
        return None
    found = db.execute(
        "SELECT content FROM studies WHERE slug = ? AND sha256 = ?", [row["study"], row["study_sha256"]]
    ).fetchone()
    if found is None:
        return None
    study = Study.model_validate_json(found[0])
    return study, study.round(row["slug"])


def labels_of(rubric: Rubric | None, categories: Sequence[str]) -> dict[str, str]:
    """What a reader calls each category: the rubric's label, or its name where no rubric is known."""
    known = {} if rubric is None else {c.id: c.label for c in rubric.categories}
    return {category: known.get(category, category) for category in categories}


def vote_record(row: sqlite3.Row, supersedes: str | None) -> Vote:
    """A vote from a row of `votes` with `work_slug`, `round_slug` and `rater_slug`."""
    fields = {name: tuple(values) for name, values in json.loads(row["fields"]).items()}
    plain = ("decision", "confidence", "reason", "reason_wording", "cast_at", "note")
    return Vote(
        id=row["slug"], round=row["round_slug"], work=row["work_slug"], rater=row["rater_slug"],
        categories=tuple(json.loads(row["categories"])), fields=fields, supersedes=supersedes,
        **{name: row[name] for name in plain},
    )  # fmt: skip


def release_record(db: sqlite3.Connection, row: sqlite3.Row) -> ModelRelease:
    """A release from its row, with its heads: categories of one head that differ in what stands behind
    them are apart."""
    heads: list[dict[str, object]] = []
    categories: list[list[str]] = []
    fields = ("name", "imitates", "availability", "positives", "ess_positives", "calibration", "threshold")
    for cell in all_rows(db, "SELECT * FROM heads WHERE release_id = ? ORDER BY id", [row["id"]]):
        head = {field: cell[field] for field in fields}
        if heads and heads[-1] == head:
            categories[-1].append(cell["category"])
        else:
            heads.append(head)
            categories.append([cell["category"]])
    plain = (
        "title", "version", "status", "maturity", "training_rounds", "decimals", "source", "note", "study",
        "artifact",
    )  # fmt: skip
    return ModelRelease(
        id=row["slug"],
        calibrated=bool(row["calibrated"]),
        heads=tuple(
            Head(**head, categories=tuple(own))  # type: ignore[arg-type]
            for head, own in zip(heads, categories, strict=True)
        ),
        **{name: row[name] for name in plain},
    )
