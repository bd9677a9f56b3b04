"""The frame of a study: the works that it is about, as samples, manifests, scores and calls take them.

Every work that its `frame` rule admits; a work that stands for a study itself is no work to screen.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from catalog.works import fields_of, work_fields
from classifiers.sampling import parse_rule
from schema.study import Study
from schema.work import STUDY_TYPE


def frame_fields(
    connection: sqlite3.Connection, study: Study | None, after: int = 0
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Row number, slug and plain fields of every work of the frame behind a row, in order of the rows.

    Without a study, of every work but those that stand for studies.
    """
    admits = _admits(study)
    for work_id, slug, fields in work_fields(connection, after):
        if admits(fields):
            yield work_id, slug, fields


def in_frame(connection: sqlite3.Connection, study: Study | None, work_id: int) -> bool:
    """Whether one work is in the frame."""
    return _admits(study)(fields_of(connection, work_id)[2])


def _admits(study: Study | None) -> Callable[[Mapping[str, Any]], bool]:
    rule = (
        None if study is None or study.frame is None else parse_rule(study.frame, f"the frame of {study.id}")
    )
    return lambda fields: fields["type"] != STUDY_TYPE and (rule is None or rule.matches(fields))


def frame_size(connection: sqlite3.Connection, study: Study | None) -> int:
    """How many works are in the frame."""
    if study is None or study.frame is None:
        return int(
            connection.execute("SELECT count(*) FROM works WHERE type IS NOT ?", [STUDY_TYPE]).fetchone()[0]
        )
    return sum(1 for _ in frame_fields(connection, study))


def newest_study(connection: sqlite3.Connection, slug: str | None) -> Study | None:
    """The newest version of a study; None where its votes were published elsewhere, or there is none."""
    row = connection.execute(
        "SELECT content FROM studies WHERE slug = ? ORDER BY version DESC LIMIT 1", [slug]
    ).fetchone()
    return None if row is None else Study.model_validate_json(row[0])


def is_synthetic(study: Study | None) -> bool:
    """Whether a study says that it is made up; one that isn't here says nothing."""
    return study is not None and study.synthetic
