"""Where the works of a round stand in its sample."""

import sqlite3

from catalog.screening_queries.records import round_study


def sample_places(db: sqlite3.Connection, round_: sqlite3.Row) -> dict[int, tuple[str, float]]:
    """Row of a work -> (stratum, design weight), by the round's sample; empty where it has none."""
    planned = round_study(db, round_)
    if planned is None or planned[1].sample is None:
        return {}
    rows = db.execute(
        "SELECT m.work_id, h.stratum, m.weight FROM samples s JOIN sample_works m ON m.sample_id = s.id "
        "JOIN sample_strata h ON h.sample_id = s.id AND h.position = m.stratum "
        "WHERE s.study = ? AND s.slug = ?",
        [round_["study"], planned[1].sample],
    )
    return {work_id: (stratum, weight) for work_id, stratum, weight in rows}
