"""Samples as they were drawn, and the chunk manifests of rounds, as rows."""

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping
from fractions import Fraction

from catalog.clock import now
from catalog.errors import CatalogError
from catalog.frames import frame_fields
from catalog.rows import insert
from catalog.studies import DrawnSample, DrawnStratum, HarnessRound, StoredStudy
from classifiers.errors import ClassifierError
from classifiers.sampling import (
    DrawnRecord,
    Frame,
    Sample,
    check_extension,
    chunk_manifests,
    draw,
    frame_by_rules,
    frame_by_table,
    parse_rule,
)
from classifiers.sampling import DrawnStratum as Stratum
from schema.ballots import ChunkManifest
from schema.base import canonical_json
from schema.study import SamplingDesign, Study

# Samples ---------------------------------------------------------------------------------------------


def draw_sample(
    connection: sqlite3.Connection, stored: StoredStudy, slug: str, strata: Mapping[str, str] | None, who: str
) -> DrawnSample:
    """Draw a sample and write it, inside the caller's transaction; the same draw again changes nothing.

    Raises CatalogError for strata that don't part the frame, a stratum with too few works, or a sample
    that was drawn from other works.
    """
    study = stored.study
    design = next((d for d in study.samples if d.id == slug), None)
    if design is None:
        names = ", ".join(d.id for d in study.samples) or "none"
        raise CatalogError(f"study {study.id} has no sample {slug!r}; its samples: {names}")
    try:
        frame = _frame(connection, study, design, strata)
        sample = draw(frame, design)
        if design.extends is not None:
            before = drawn_sample(connection, study.id, design.extends)
            if before is None:
                raise CatalogError(
                    f"sample {slug} extends {design.extends}, which isn't drawn yet; draw it first"
                )
            check_extension(before, sample)
    except ClassifierError as error:
        raise CatalogError(f"sample {slug}: {error}") from error
    here = drawn_sample(connection, study.id, slug)
    if here is not None and here != sample:
        raise CatalogError(
            f"sample {slug} was drawn already, from {sum(s.frame_size for s in here.strata)} works in other "
            f"strata or of other names than the {len(frame.ids)} now; it stays as it was drawn"
        )
    if here is None:
        _write(connection, stored, design, frame, sample, who)
    return DrawnSample(
        slug,
        len(frame.ids),
        sample.frame_sha256,
        tuple(
            DrawnStratum(s.name, s.frame_size, s.drawn, None if s.weight is None else float(s.weight))
            for s in sample.strata
        ),
        len(sample.records),
        here is None,
    )


def drawn_sample(connection: sqlite3.Connection, study: str, slug: str) -> Sample | None:
    """A sample as it was drawn, stratum by stratum; None where it isn't drawn yet."""
    row = connection.execute(
        "SELECT id, design, frame_sha256 FROM samples WHERE study = ? AND slug = ?", [study, slug]
    ).fetchone()
    if row is None:
        return None
    sample_id, content, frame_sha256 = row
    strata = [
        Stratum(*stratum)
        for stratum in connection.execute(
            "SELECT stratum, frame_size, drawn FROM sample_strata WHERE sample_id = ? ORDER BY position",
            [sample_id],
        )
    ]
    records = [
        DrawnRecord(
            work, strata[position].name, rank, strata[position].inclusion,
            Fraction(strata[position].frame_size, strata[position].drawn),
        )
        for work, position, rank in connection.execute(
            "SELECT w.slug, s.stratum, s.rank FROM sample_works s JOIN works w ON w.id = s.work_id "
            "WHERE s.sample_id = ? ORDER BY s.stratum, s.rank",
            [sample_id],
        )
    ]  # fmt: skip
    salt = SamplingDesign.model_validate_json(content).salt
    return Sample(salt, frame_sha256, tuple(strata), tuple(records))


def _frame(
    connection: sqlite3.Connection, study: Study, design: SamplingDesign, strata: Mapping[str, str] | None
) -> Frame:
    ruled = all(stratum.where is not None for stratum in design.strata)
    if strata is None:
        if not ruled and len(design.strata) > 1:
            stratum = next(s.id for s in design.strata if s.where is None)
            raise CatalogError(
                f"sample {design.id}: stratum {stratum} has no rule; give a table of works and strata"
            )
        if not ruled:  # one stratum without a rule is the whole frame
            only = design.strata[0].model_copy(update={"where": {"otherwise": True}})
            design = design.model_copy(update={"strata": (only,)})
        return frame_by_rules(((slug, fields) for _, slug, fields in frame_fields(connection, study)), design)
    if ruled:
        raise CatalogError(f"sample {design.id}: its strata have rules, so no table of strata is asked for")
    return frame_by_table(_given(connection, study, design, strata), [s.id for s in design.strata])


def _given(
    connection: sqlite3.Connection, study: Study, design: SamplingDesign, strata: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each work of the frame with its stratum from a table, which must know them all and no others."""
    rule = None if design.frame is None else parse_rule(design.frame, "the frame")
    found = 0
    for _, slug, fields in frame_fields(connection, study):
        found += slug in strata
        if rule is not None and not rule.matches(fields):
            continue
        if slug not in strata:
            raise CatalogError(f"sample {design.id}: the table of strata doesn't name work {slug!r}")
        yield slug, strata[slug]
    if found < len(strata):
        known = {row[0] for row in connection.execute("SELECT slug FROM works")}
        unknown = next(slug for slug in strata if slug not in known)
        more = f" (and {len(strata) - found - 1} more)" if len(strata) - found > 1 else ""
        raise CatalogError(
            f"sample {design.id}: the table of strata names {unknown!r}{more}; the catalog has no such work"
        )


def _write(
    connection: sqlite3.Connection,
    stored: StoredStudy,
    design: SamplingDesign,
    frame: Frame,
    sample: Sample,
    who: str,
) -> None:
    content = canonical_json(design.model_dump(mode="json"))
    sample_id = insert(connection, "samples", {
        "study": stored.study.id, "slug": design.id, "study_id": stored.id, "design": content.decode("utf-8"),
        "design_sha256": hashlib.sha256(content).hexdigest(), "frame_size": len(frame.ids),
        "frame_sha256": sample.frame_sha256, "drawn": len(sample.records),
        "recorded_at": now(), "recorded_by": who,
    })  # fmt: skip
    places = {}
    for position, stratum in enumerate(sample.strata):
        places[stratum.name] = position
        insert(connection, "sample_strata", {
            "sample_id": sample_id, "position": position, "stratum": stratum.name,
            "frame_size": stratum.frame_size, "drawn": stratum.drawn,
        })  # fmt: skip
    connection.executemany(
        "INSERT INTO sample_works(sample_id, work_id, stratum, rank, inclusion_probability, weight) "
        "VALUES (?, (SELECT id FROM works WHERE slug = ?), ?, ?, ?, ?)",
        (
            (sample_id, r.id, places[r.stratum], r.position, float(r.inclusion), float(r.weight))
            for r in sample.records
        ),
    )


# Manifests -------------------------------------------------------------------------------------------


def write_manifest(
    connection: sqlite3.Connection, round_: HarnessRound, who: str
) -> tuple[tuple[ChunkManifest, ...], bool]:
    """Write the chunks of a round, inside the caller's transaction; the chunks, and whether they are new.

    Raises CatalogError where its sample isn't drawn, there is no work, or other chunks are written.
    """
    plan = round_.plan
    if plan.sample is None:
        works = [slug for _, slug, _ in frame_fields(connection, round_.study)]
        if plan.works:
            frame = set(works)
            unknown = [slug for slug in plan.works if slug not in frame]
            if unknown:
                raise CatalogError(
                    f"round {plan.id}: names {unknown[0]!r}, which is no work of the study's frame"
                    + (f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else "")
                )
            works = list(plan.works)
    else:
        sample = drawn_sample(connection, round_.study.id, plan.sample)
        if sample is None:
            raise CatalogError(f"round {plan.id}: its sample {plan.sample} isn't drawn yet; draw it first")
        works = [record.id for record in sample.records]
    written = stored_manifest(connection, plan.id)
    if not works and not written:
        raise CatalogError(f"round {plan.id}: there is no work to rate; import some first")
    chunks = chunk_manifests(plan.id, works, plan.chunk_size, plan.seed)
    if written:
        if written != chunks:
            before = sum(len(chunk.works) for chunk in written)
            raise CatalogError(
                f"round {plan.id}: its manifest is written already, with {before} works, and would hold "
                f"{len(works)} now; it stays as it is"
            )
        return chunks, False
    ids = dict(connection.execute("SELECT slug, id FROM works"))
    at = now()
    for chunk in chunks:
        chunk_id = insert(connection, "chunks", {
            "round_id": round_.id, "position": chunk.position, "works": len(chunk.works),
            "sha256": chunk.sha256, "recorded_at": at, "recorded_by": who,
        })  # fmt: skip
        connection.executemany(
            "INSERT INTO chunk_works(chunk_id, position, round_id, work_id) VALUES (?, ?, ?, ?)",
            ((chunk_id, n, round_.id, ids[work]) for n, work in enumerate(chunk.works, start=1)),
        )
    return chunks, True


def stored_manifest(connection: sqlite3.Connection, round_: str) -> tuple[ChunkManifest, ...]:
    """The chunks of a round as they are written; empty where they aren't."""
    chunks: dict[int, tuple[str, list[str]]] = {}
    for position, digest, work in connection.execute(
        "SELECT c.position, c.sha256, w.slug FROM rounds r JOIN chunks c ON c.round_id = r.id "
        "JOIN chunk_works m ON m.chunk_id = c.id JOIN works w ON w.id = m.work_id "
        "WHERE r.slug = ? ORDER BY c.position, m.position",
        [round_],
    ):
        chunks.setdefault(position, (digest, []))[1].append(work)
    return tuple(
        ChunkManifest(round=round_, position=position, works=tuple(works), sha256=digest)
        for position, (digest, works) in chunks.items()
    )
