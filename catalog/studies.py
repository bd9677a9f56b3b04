"""Studies as rows: versions, raters and rounds. Samples and manifests: see `catalog.samples`."""

import sqlite3
from dataclasses import dataclass

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.rows import as_json, insert
from catalog.screening import add_rater
from schema.base import canonical_json
from schema.rubric import Rubric
from schema.screening import Rater
from schema.study import RoundPlan, Study


@dataclass(frozen=True)
class AddedStudy:
    """A study as it is here now. `rounds` are those that this version brought."""

    slug: str
    version: int
    sha256: str
    new: bool
    rounds: tuple[str, ...]


@dataclass(frozen=True)
class DrawnStratum:
    """One stratum: `drawn` of `frame_size` works, each standing for `weight` (None: none was drawn)."""

    stratum: str
    frame_size: int
    drawn: int
    weight: float | None


@dataclass(frozen=True)
class DrawnSample:
    """A sample as it was drawn. `frame_sha256` covers the ids of the frame and their strata."""

    slug: str
    frame_size: int
    frame_sha256: str
    strata: tuple[DrawnStratum, ...]
    drawn: int
    new: bool


@dataclass(frozen=True)
class StoredStudy:
    """One version of a study with its row."""

    id: int
    version: int
    study: Study


@dataclass(frozen=True)
class HarnessRound:
    """A round that is taken here: its row, its plan, and the version of the study that brought it.

    `raters` and `adjudicators` are in the order of the plan, with their rows.
    """

    id: int
    slug: str
    study: Study
    plan: RoundPlan
    raters: dict[str, int]
    adjudicators: dict[str, int]

    @property
    def rubric(self) -> Rubric:
        """What its raters are asked."""
        return self.study.rubric

    def rater(self, slug: str) -> Rater:
        """The record of a rater or adjudicator of the round."""
        return next(r for r in self.study.raters if r.id == slug)


def add_study(connection: sqlite3.Connection, study: Study, source_sha256: str, who: str) -> AddedStudy:
    """Write a study, or its next version, inside the caller's transaction. The same again changes nothing.

    Raises CatalogError where a version would change what is decided already.
    """
    here = connection.execute(
        "SELECT version FROM studies WHERE slug = ? AND sha256 = ?", [study.id, study.sha256]
    ).fetchone()
    if here is not None:
        return AddedStudy(study.id, here[0], study.sha256, False, ())
    before = stored_study(connection, study.id)
    if before is not None:
        _only_adds(connection, before.study, study)
    version = 1 if before is None else before.version + 1
    at = now()
    values = {
        "slug": study.id, "version": version, "sha256": study.sha256, "rubric_sha256": study.rubric.sha256,
        "title": study.title, "synthetic": int(study.synthetic),
        "content": canonical_json(study.model_dump(mode="json")).decode("utf-8"),
        "source_sha256": source_sha256, "recorded_at": at, "recorded_by": who,
    }  # fmt: skip
    insert(connection, "studies", values)
    for rater in study.raters:
        add_rater(connection, rater)
    known = set() if before is None else {plan.id for plan in before.study.rounds}
    brought = [plan for plan in study.rounds if plan.id not in known]
    for plan in brought:
        _add_round(connection, study, plan, source_sha256, at, who)
    return AddedStudy(study.id, version, study.sha256, True, tuple(plan.id for plan in brought))


def stored_study(connection: sqlite3.Connection, slug: str, version: int | None = None) -> StoredStudy | None:
    """A study in its newest version, or the one asked for; None: not here."""
    row = connection.execute(
        "SELECT id, version, content FROM studies WHERE slug = ? AND (? IS NULL OR version = ?) "
        "ORDER BY version DESC LIMIT 1",
        [slug, version, version],
    ).fetchone()
    return None if row is None else StoredStudy(row[0], row[1], Study.model_validate_json(row[2]))


def the_study(connection: sqlite3.Connection, slug: str) -> StoredStudy:
    """A study in its newest version. Raises CatalogError where it isn't here."""
    found = stored_study(connection, slug)
    if found is None:
        names = [row[0] for row in connection.execute("SELECT DISTINCT slug FROM studies ORDER BY slug")]
        hint = f"there is {', '.join(names[:10])}" if names else "`proofshelf screen design` adds one"
        raise CatalogError(f"there is no study {slug!r} here; {hint}")
    return found


def harness_round(connection: sqlite3.Connection, slug: str) -> HarnessRound:
    """A round that is taken here. Raises CatalogError where there is none, or its votes were published."""
    row = connection.execute(
        "SELECT r.id, r.origin, s.content FROM rounds r LEFT JOIN studies s "
        "ON s.slug = r.study AND s.sha256 = r.study_sha256 WHERE r.slug = ?",
        [slug],
    ).fetchone()
    if row is None:
        names = [r[0] for r in connection.execute("SELECT slug FROM rounds ORDER BY id LIMIT 10")]
        hint = (
            f"there is {', '.join(names)}"
            if names
            else "`proofshelf screen design` adds a study with its rounds"
        )
        raise CatalogError(f"there is no round {slug!r} here; {hint}")
    round_id, origin, content = row
    if origin != "harness":
        raise CatalogError(
            f"round {slug!r} holds votes that were published elsewhere; none are cast in it here"
        )
    if content is None:
        raise CatalogError(f"round {slug!r}: the study that it names is gone; `proofshelf audit` says more")
    study = Study.model_validate_json(content)
    people: dict[str, dict[str, int]] = {"rater": {}, "adjudicator": {}}
    for role, rater, rater_id in connection.execute(
        "SELECT m.role, t.slug, t.id FROM round_raters m JOIN raters t ON t.id = m.rater_id "
        "WHERE m.round_id = ? ORDER BY m.role, m.position",
        [round_id],
    ):
        people[role][rater] = rater_id
    return HarnessRound(round_id, slug, study, study.round(slug), people["rater"], people["adjudicator"])


def rater_of(round_: HarnessRound, rater: str, role: str = "rater") -> int:
    """The row of a rater (or adjudicator) of a round. Raises CatalogError where it isn't one."""
    people = round_.raters if role == "rater" else round_.adjudicators
    if rater not in people:
        names = ", ".join(people) or "nobody"
        raise CatalogError(f"{rater!r} is no {role} of round {round_.slug}; its {role}s: {names}")
    return people[rater]


def _add_round(
    connection: sqlite3.Connection, study: Study, plan: RoundPlan, source_sha256: str, at: str, who: str
) -> None:
    taken = connection.execute("SELECT study FROM rounds WHERE slug = ?", [plan.id]).fetchone()
    if taken is not None:
        raise CatalogError(f"round {plan.id} is a round of study {taken[0]!r} here; give it another id")
    round_id = insert(connection, "rounds", {
        "slug": plan.id, "study": study.id, "title": plan.title, "instrument": plan.instrument,
        "categories": as_json([c.id for c in study.rubric.categories]),
        "rubric_sha256": study.rubric.sha256, "panel": len(plan.raters),
        "source": study.source or f"taken here, in study {study.id}", "licence": study.licence,
        "note": plan.note, "origin": "harness", "study_sha256": study.sha256, "cannot": study.rubric.cannot,
        "source_sha256": source_sha256, "recorded_at": at, "recorded_by": who,
    })  # fmt: skip
    for role, people in (("rater", plan.raters), ("adjudicator", plan.adjudicators)):
        for position, rater in enumerate(people, start=1):
            rater_id = connection.execute("SELECT id FROM raters WHERE slug = ?", [rater]).fetchone()[0]
            insert(connection, "round_raters", {
                "round_id": round_id, "role": role, "position": position, "rater_id": rater_id,
            })  # fmt: skip


def _only_adds(connection: sqlite3.Connection, before: Study, study: Study) -> None:
    """Refuse a version that changes or drops what an earlier one decided."""
    old, new = before.rubric, study.rubric
    if (old.id, old.version) == (new.id, new.version) and old.sha256 != new.sha256:
        raise CatalogError(
            f"study {study.id}: rubric {new.id} version {new.version} is here in other words; "
            "give the changed rubric another version"
        )
    plans = {plan.id: plan for plan in study.rounds}
    for plan in before.rounds:
        if plan.id not in plans:
            raise CatalogError(
                f"study {study.id}: round {plan.id} is missing; a new version only adds rounds"
            )
        if changed := _changed(plan, plans[plan.id]):
            raise CatalogError(
                f"study {study.id}: round {plan.id} is here already with another {changed}; "
                "leave it as it is, and add another round"
            )
    designs = {design.id: design for design in study.samples}
    for slug, content in connection.execute(
        "SELECT slug, design FROM samples WHERE study = ? ORDER BY id", [study.id]
    ):
        given = designs.get(slug)
        if given is None:
            raise CatalogError(f"study {study.id}: sample {slug} was drawn already, and is missing")
        if canonical_json(given.model_dump(mode="json")).decode("utf-8") != content:
            raise CatalogError(
                f"study {study.id}: sample {slug} was drawn already by another design; "
                "leave it as it is, and add one that extends it"
            )


def _changed(one: RoundPlan, other: RoundPlan) -> str | None:
    """The first field in which two plans differ."""
    return next((f for f in RoundPlan.model_fields if getattr(one, f) != getattr(other, f)), None)
