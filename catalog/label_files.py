"""Labels from elsewhere: included, excluded or unknown, row by row, into a published round of their own."""

import sqlite3

from catalog.ballots import Published, VotesReport, vote_name
from catalog.clock import now
from catalog.rows import as_json, insert
from catalog.screening import add_rater, add_round
from catalog.vote_files import Quarantine, rows_of
from catalog.works import find_work, works_named_by
from ingest.labels import Label, Labels
from schema.screening import Decision, Rater, Round

CATEGORY = "include"
_DECISIONS: dict[str, Decision] = {"included": "in_scope", "excluded": "out_of_scope", "unknown": "unsure"}
_LONGEST = 400


def import_labels(
    connection: sqlite3.Connection, labels: Labels, published: Published, supersede: str | None, who: str
) -> VotesReport:
    """Take labels into a published round, inside the caller's transaction; the round is made if need be.

    An included work is in scope with the one category `include`, an excluded one out of scope, and an
    unknown label is an unsure vote. A row whose work isn't known for sure is put into quarantine, as are
    rows of one work that contradict each other.
    """
    slug = published.round or published.study
    rater = Rater(id=published.rater, kind=published.kind, name=published.name, version=published.version)
    add_rater(connection, rater)
    add_round(
        connection,
        Round(
            id=slug, study=published.study, title=published.title, instrument=published.instrument,
            categories=(CATEGORY,), panel=published.panel, source=published.source,
            licence=published.licence, note=published.note,
        ),
        labels.sha256, who,
    )  # fmt: skip
    writer = _Labels(connection, slug, rater.id, labels, supersede, who)
    return writer.take()


class _Labels:
    def __init__(
        self,
        connection: sqlite3.Connection,
        round_: str,
        rater: str,
        labels: Labels,
        supersede: str | None,
        who: str,
    ) -> None:
        self._connection = connection
        self._round = round_
        self._rater = rater
        self._labels = labels
        self._supersede = supersede
        self._who = who
        self._round_id = self._id("rounds", round_)
        self._rater_id = self._id("raters", rater)
        self._quarantine = Quarantine(connection, self._round_id, labels.filename, labels.sha256, who)
        # The same file may have been imported as a bibliography: then a row's line names its record.
        self._by_line: dict[int, int] = dict(
            connection.execute(
                "SELECT r.line, r.work_id FROM import_records r JOIN imports i ON i.id = r.import_id "
                "WHERE i.sha256 = ? AND r.line IS NOT NULL ORDER BY r.import_id DESC",
                [labels.sha256],
            ).fetchall()
        )
        self._by_key = self._keys()

    def take(self) -> VotesReport:
        """Write every label whose work is known; report the rest."""
        for broken in self._labels.rejected:
            self._quarantine.take(self._rater_id, broken.line, broken.raw, broken.reason)
        works: dict[int, list[Label]] = {}
        for label in self._labels.rows:
            found = self._work(label)
            if isinstance(found, str):
                self._refuse(label, found)
            else:
                works.setdefault(found, []).append(label)
        taken = 0
        unchanged = len(self._labels.repeated)
        for work_id, rows in works.items():
            if len({row.value for row in rows}) > 1:
                said = ", ".join(f"{row.given!r} in line {row.line}" for row in rows)
                for row in rows:
                    self._refuse(row, f"{self._slug(work_id)} has labels that differ: {said}")
                continue
            outcome = self._vote(work_id, rows[0])
            if isinstance(outcome, str):
                self._refuse(rows[0], outcome)
            taken += outcome is True
            unchanged += (outcome is False) + len(rows) - 1
        read = len(self._labels.rows) + len(self._labels.repeated) + rows_of(self._labels.rejected)
        return VotesReport(
            self._round, self._labels.sha256, read, taken, unchanged, self._quarantine.rows, {},
            tuple(self._quarantine.problems), self._labels.notes,
        )  # fmt: skip

    def _id(self, table: str, slug: str) -> int:
        return int(self._connection.execute(f"SELECT id FROM {table} WHERE slug = ?", [slug]).fetchone()[0])

    def _slug(self, work_id: int) -> str:
        row = self._connection.execute("SELECT slug FROM works WHERE id = ?", [work_id]).fetchone()
        return str(row[0])

    def _refuse(self, label: Label, reason: str) -> None:
        said = {
            "line": label.line, "key": label.key, "label": label.given, "others": label.others,
            "identifiers": [f"{i.scheme} {i.value}" for i in label.identifiers], "reason": label.reason,
        }  # fmt: skip
        raw = as_json({name: value for name, value in said.items() if value not in (None, [], ())})
        self._quarantine.take(self._rater_id, label.line, raw, reason)

    def _keys(self) -> dict[str, set[int]]:
        """The works that imported files call by the names that labels use without an identifier."""
        wanted = {row.key for row in self._labels.rows if row.key and not row.identifiers}
        found: dict[str, set[int]] = {}
        if not wanted or self._by_line:
            return found
        for key, work_id in self._connection.execute("SELECT key, work_id FROM import_records"):
            if key in wanted:
                found.setdefault(key, set()).add(work_id)
        return found

    def _work(self, label: Label) -> int | str:
        """The row of the work that a label is of, or why it isn't known."""
        if label.line in self._by_line:
            return self._by_line[label.line]
        named = works_named_by(self._connection, label.identifiers)
        if named:  # the first identifier is the most certain one: two works may share a DOI by mistake
            return named[0][1].id
        if label.identifiers:
            return f"the catalog has no work with the {label.name()}; import it first"
        known = find_work(self._connection, label.key or "")
        if known is not None:
            return known.id
        works = self._by_key.get(label.key or "", set())
        if len(works) == 1:
            return next(iter(works))
        if works:
            return f"{len(works)} works here were imported under the name {label.key!r}"
        return f"the catalog has no work {label.key!r}; import it first"

    def _vote(self, work_id: int, label: Label) -> bool | str:
        """Whether a vote was written, or why it can't be."""
        decision = _DECISIONS[label.value]
        categories = as_json([CATEGORY] if decision == "in_scope" else [])
        before = self._connection.execute(
            "SELECT v.id, v.decision, v.slug FROM votes v WHERE v.round_id = ? AND v.rater_id = ? "
            "AND v.work_id = ? AND NOT EXISTS (SELECT 1 FROM votes n WHERE n.supersedes = v.id)",
            [self._round_id, self._rater_id, work_id],
        ).fetchone()
        if before is not None and before[1] == decision:
            return False
        work = self._slug(work_id)
        if before is not None and self._supersede is None:
            return f"{self._rater} called {work} {before[1]} before; a correction says why"
        number = self._connection.execute(
            "SELECT count(*) + 1 FROM votes WHERE round_id = ? AND work_id = ? AND rater_id = ?",
            [self._round_id, work_id, self._rater_id],
        ).fetchone()[0]
        reason, note = label.reason, self._supersede if before else None
        if reason is not None and len(reason) > _LONGEST:
            reason = reason[: _LONGEST - 1] + "…"
            note = "; ".join(filter(None, (note, "its reason is cut here; the file has all of it")))
        insert(self._connection, "votes", {
            "slug": vote_name(self._round, work, self._rater, number), "round_id": self._round_id,
            "work_id": work_id, "rater_id": self._rater_id, "decision": decision, "categories": categories,
            "reason": reason, "reason_wording": None if reason is None else "verbatim",
            "supersedes": before[0] if before else None, "note": note, "source_sha256": self._labels.sha256,
            "recorded_at": now(), "recorded_by": self._who,
        })  # fmt: skip
        return True
