"""Rows are written once: triggers on every table refuse to change, remove or replace one.

A correction is a new row that names the one it supersedes. `INSERT OR REPLACE` deletes the row in
its way without firing a delete trigger, so an insert is refused wherever a key is taken already.
"""

import sqlite3

from schema.work import IDENTITY_SCHEMES

_ID = "id = NEW.id"
_IDENTITY = f"NEW.scheme IN {IDENTITY_SCHEMES!r} AND scheme = NEW.scheme AND value = NEW.value"
_TAKEN = "NEW.state = 'accepted' AND NEW.correction IS NULL AND state = 'accepted' AND correction IS NULL"
_BALLOT = (
    "NEW.supersedes IS NULL AND supersedes IS NULL AND round_id = NEW.round_id "
    "AND work_id = NEW.work_id AND rater_id = NEW.rater_id"
)

# Each table with the conditions under which a row in it has a key that NEW would take.
APPEND_ONLY: dict[str, tuple[str, ...]] = {
    "_sqlite_migrations": (_ID, "migration_set = NEW.migration_set AND name = NEW.name"),
    "slugs": ("slug = NEW.slug",),
    "works": (_ID, "slug = NEW.slug"),
    "aliases": ("slug = NEW.slug",),
    "identifiers": (
        _ID,
        "work_id = NEW.work_id AND scheme = NEW.scheme AND value = NEW.value",
        _IDENTITY,
    ),
    "authors": (_ID, "name = NEW.name AND orcid = NEW.orcid"),
    "work_authors": ("work_id = NEW.work_id AND position = NEW.position",),
    "imports": (_ID,),
    "raw_records": (_ID, "sha256 = NEW.sha256"),
    "supplements": (_ID, "work_id = NEW.work_id AND field = NEW.field"),
    "import_records": ("import_id = NEW.import_id AND position = NEW.position",),
    "rejected": (_ID,),
    "manifests": ("sha256 = NEW.sha256",),
    "artifacts": (
        _ID,
        "slug = NEW.slug AND version = NEW.version",
        "slug = NEW.slug AND manifest_sha256 = NEW.manifest_sha256",
    ),
    "files": (_ID, "artifact_id = NEW.artifact_id AND path = NEW.path"),
    "analyses": (_ID, "artifact_id = NEW.artifact_id AND name = NEW.name"),
    "claims": (_ID, "artifact_id = NEW.artifact_id AND name = NEW.name"),
    "evidence": ("claim_id = NEW.claim_id AND position = NEW.position",),
    "verifications": (_ID, "previous = NEW.previous", "hash = NEW.hash"),
    "checks": (_ID, "verification_id = NEW.verification_id AND position = NEW.position"),
    "raters": (_ID, "slug = NEW.slug"),
    "rounds": (_ID, "slug = NEW.slug"),
    "votes": (_ID, "slug = NEW.slug", "supersedes = NEW.supersedes", _BALLOT),
    "statements": (_ID, "slug = NEW.slug"),
    "model_releases": (_ID, "slug = NEW.slug"),
    "heads": (_ID, "release_id = NEW.release_id AND name = NEW.name AND category = NEW.category"),
    "scores": ("work_id = NEW.work_id AND head_id = NEW.head_id",),
    "screening_caveats": ("artifact_id = NEW.artifact_id AND position = NEW.position",),
    "events": (_ID,),
    "studies": (
        _ID,
        "slug = NEW.slug AND version = NEW.version",
        "slug = NEW.slug AND sha256 = NEW.sha256",
    ),
    "round_raters": (
        "round_id = NEW.round_id AND role = NEW.role AND position = NEW.position",
        "round_id = NEW.round_id AND role = NEW.role AND rater_id = NEW.rater_id",
    ),
    "samples": (_ID, "study = NEW.study AND slug = NEW.slug"),
    "sample_strata": (
        "sample_id = NEW.sample_id AND position = NEW.position",
        "sample_id = NEW.sample_id AND stratum = NEW.stratum",
    ),
    "sample_works": (
        "sample_id = NEW.sample_id AND work_id = NEW.work_id",
        "sample_id = NEW.sample_id AND stratum = NEW.stratum AND rank = NEW.rank",
    ),
    "chunks": (_ID, "round_id = NEW.round_id AND position = NEW.position"),
    "chunk_works": (
        "chunk_id = NEW.chunk_id AND position = NEW.position",
        "round_id = NEW.round_id AND work_id = NEW.work_id",
    ),
    "answers": (_ID, f"chunk_id = NEW.chunk_id AND rater_id = NEW.rater_id AND {_TAKEN}"),
    "skips": (_ID,),
    "adjudications": (
        _ID,
        "slug = NEW.slug",
        "supersedes = NEW.supersedes",
        "NEW.supersedes IS NULL AND supersedes IS NULL AND round_id = NEW.round_id AND work_id = NEW.work_id",
    ),
    "release_files": ("release_id = NEW.release_id AND path = NEW.path",),
    "scorings": ("release_id = NEW.release_id AND number = NEW.number",),
    "scoring_starts": ("release_id = NEW.release_id AND number = NEW.number AND attempt = NEW.attempt",),
    "decision_runs": (_ID, "slug = NEW.slug"),
    "decisions": ("work_id = NEW.work_id AND run_id = NEW.run_id AND category = NEW.category",),
}


# What an inserted row must meet besides: name -> table, when it is refused, and the sentence.
_REFUSED: dict[str, tuple[str, str, str]] = {
    "votes_supersede_their_own": (
        "votes",
        """NEW.supersedes IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM votes WHERE id = NEW.supersedes AND round_id = NEW.round_id
    AND work_id = NEW.work_id AND rater_id = NEW.rater_id)""",
        "a vote can supersede only one of the same rater on the same work in the same round",
    ),
    "votes_need_a_manifest": (
        "votes",
        """EXISTS (SELECT 1 FROM rounds WHERE id = NEW.round_id AND origin = 'harness') AND NOT EXISTS (
  SELECT 1 FROM chunk_works WHERE round_id = NEW.round_id AND work_id = NEW.work_id)""",
        "a vote in this round needs a chunk manifest, written before, that holds its work",
    ),
    "votes_need_their_rater": (
        "votes",
        """EXISTS (SELECT 1 FROM rounds WHERE id = NEW.round_id AND origin = 'harness') AND NOT EXISTS (
  SELECT 1 FROM round_raters
  WHERE round_id = NEW.round_id AND role = 'rater' AND rater_id = NEW.rater_id)""",
        "a vote in this round is cast by one of its raters",
    ),
    "chunks_come_before_votes": (
        "chunks",
        """EXISTS (SELECT 1 FROM votes WHERE round_id = NEW.round_id)
  OR EXISTS (SELECT 1 FROM answers WHERE round_id = NEW.round_id)""",
        "a chunk is written before anybody rates",
    ),
    "chunk_works_come_before_votes": (
        "chunk_works",
        """EXISTS (SELECT 1 FROM votes WHERE round_id = NEW.round_id)
  OR EXISTS (SELECT 1 FROM answers WHERE round_id = NEW.round_id)
  OR NOT EXISTS (SELECT 1 FROM chunks WHERE id = NEW.chunk_id AND round_id = NEW.round_id)""",
        "the works of a chunk are written before anybody rates, into a chunk of their round",
    ),
    "answers_speak_to_a_chunk_of_their_round": (
        "answers",
        """NEW.chunk_id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM chunks WHERE id = NEW.chunk_id AND round_id = NEW.round_id)""",
        "an answer is to a chunk of its own round",
    ),
    "adjudications_supersede_their_own": (
        "adjudications",
        """NEW.supersedes IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM adjudications WHERE id = NEW.supersedes AND round_id = NEW.round_id
    AND work_id = NEW.work_id)""",
        "an adjudication can supersede only one on the same work in the same round",
    ),
}


def triggers() -> dict[str, str]:
    """Name and definition of every trigger that guards a table."""
    made = {
        name: (
            f'CREATE TRIGGER "{name}" BEFORE INSERT ON {table}\nWHEN {when}\n'
            f"BEGIN\n  SELECT RAISE(ABORT, '{said}');\nEND"
        )
        for name, (table, when, said) in _REFUSED.items()
    }
    for table, keys in APPEND_ONLY.items():
        for verb, past in (("UPDATE", "changed"), ("DELETE", "removed")):
            name = f"{table}_not_{past}"
            made[name] = (
                f'CREATE TRIGGER "{name}" BEFORE {verb} ON "{table}" BEGIN '
                f"SELECT RAISE(ABORT, 'a row of {table} is written once and can''t be {past}'); END"
            )
        taken = " OR ".join(f'EXISTS (SELECT 1 FROM "{table}" WHERE {key})' for key in keys)
        name = f"{table}_not_replaced"
        made[name] = (
            f'CREATE TRIGGER "{name}" BEFORE INSERT ON "{table}" WHEN {taken} BEGIN '
            f"SELECT RAISE(ABORT, 'a row of {table} with this key is there already and can''t be replaced'); "
            "END"
        )
    return made


def create_triggers(connection: sqlite3.Connection) -> None:
    """(Re)create every trigger, inside the caller's transaction: after a migration, say."""
    for name, definition in triggers().items():
        connection.execute(f'DROP TRIGGER IF EXISTS "{name}"')
        connection.execute(definition)


def trigger_problems(connection: sqlite3.Connection) -> list[str]:
    """One sentence for each trigger that is missing or isn't as it was made."""
    found = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
    problems = []
    for name, definition in triggers().items():
        if name not in found:
            problems.append(f"trigger {name} is missing: rows of its table could be changed unseen")
        elif found[name] != definition:
            problems.append(f"trigger {name} was altered")
    return problems
