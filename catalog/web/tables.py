"""What Datasette's own pages are told of the catalog's tables: words, facets, search and links."""

from typing import Any

from markupsafe import Markup

_WORDS: dict[str, tuple[str, list[str]]] = {
    "works": ("Bibliographic records. `slug` names each one's page.", ["year", "venue", "type", "language"]),
    "works_now": (
        "Works with what later records filled in; `works` has them as they first came.",
        ["year", "venue", "type", "language"],
    ),
    "aliases": ("Further names of works, which packages gave them.", []),
    "supplements": ("What a later record brought where a work had nothing.", ["field"]),
    "identifiers": ("Names of works in other catalogs, normalised.", ["scheme"]),
    "authors": ("People and groups, as the records name them.", []),
    "work_authors": ("Who wrote what, in the order of the record.", []),
    "imports": ("Each reading of a file, with what became of its records.", ["format"]),
    "import_records": ("What each record of an import became, and by what evidence.", ["outcome"]),
    "raw_records": ("Every record that was taken in, as it came, once.", []),
    "rejected": ("Records that couldn't be taken in, as they came, with the reason.", []),
    "artifacts": ("Packages: one row for each version.", ["licence"]),
    "manifests": ("The bytes of each package's manifest.", []),
    "files": ("Files that packages list, with the bytes that they must have.", ["role"]),
    "analyses": ("How numbers are computed again.", ["kind"]),
    "claims": ("Numbers that papers state, and findings of ours about them.", ["kind", "tolerance_kind"]),
    "evidence": ("Which analysis gives a claim's number, and where in its output.", []),
    "verifications": ("Runs, append-only and chained by hash.", ["outcome", "depth", "level", "origin"]),
    "checks": (
        "Every comparison of every run.",
        ["kind", "outcome", "depth"],
    ),
    "studies": ("Each version of each study, whole, by the hash of all that it says.", ["synthetic"]),
    "samples": ("Samples as they were drawn, by design and frame.", ["study"]),
    "sample_strata": ("The strata of each sample: how many of how many works.", ["stratum"]),
    "sample_works": ("Each drawn work with its inclusion probability and weight.", ["sample_id"]),
    "chunks": ("Chunks of a round, laid out before any rater ran, with their hashes.", ["round_id"]),
    "chunk_works": ("The works of each chunk, in their order.", []),
    "answers": (
        "Everything that a rater said to a chunk, taken, quarantined or failed, as it came.",
        ["state", "round_id", "rater_id"],
    ),
    "skips": ("Works that a person put off: no vote.", ["round_id", "rater_id"]),
    "round_raters": ("Who rates and who adjudicates in which round.", ["role"]),
    "adjudications": ("What adjudicators made of votes, which stay as they are.", ["decision"]),
    "raters": ("People and models that voted, with exact versions.", ["kind"]),
    "rounds": ("Screenings: a panel, an instrument, a set of works.", ["instrument"]),
    "votes": ("What one rater said of one work. Never changed: a correction supersedes.", ["decision"]),
    "statements": ("What a publisher said of a work, in its own words.", ["publisher", "status"]),
    "model_releases": ("Models at one version, with the status that ships with every score.", ["maturity"]),
    "heads": ("One side of a model and a category that it scores.", ["availability"]),
    "scores": ("A score ranks; it never asserts a label. See scores_readable.", []),
    "release_files": ("Stored files of releases that were trained here.", []),
    "scorings": ("Scorings that came to their end: only then do their scores show.", ["release_id"]),
    "scoring_starts": ("Scorings as they were begun.", ["release_id"]),
    "scores_shown": ("Scores of finished scorings. A score ranks; it never asserts a label.", []),
    "decision_runs": ("Calls of a release over the works that it scored, by quota.", ["status"]),
    "decisions": ("Calls of a model, never labels. See calls_readable.", ["call"]),
    "screening_caveats": ("What must be read with the screening data.", []),
    "events": ("Who did what, when, to which row.", ["action"]),
    "votes_current": ("Votes that nothing supersedes, with names instead of numbers.", []),
    "adjudications_current": (
        "Adjudications that nothing supersedes, with their status.",
        ["decision"],
    ),
    "category_votes": ("What each current vote says of each category: 1, 0, or nothing.", ["rater_kind"]),
    "category_states": (
        "The state of each category of each work in each round, with the status of its votes.",
        ["state", "status"],
    ),
    "head_support": ("Whether a release's heads have support for a category.", ["supported"]),
    "calls_readable": ("Calls with names instead of numbers, and the status that governs them.", ["call"]),
    "scores_readable": ("Scores with names instead of numbers, and the status that governs them.", []),
    "claims_readable": ("Claims with the package and version that state them.", []),
    "artifacts_current": ("Each package at its newest version.", []),
    "verifications_latest": ("The newest run of each version of a package.", []),
}
_LABELS = {
    "studies": "title",
    "samples": "slug",
    "works": "title",
    "artifacts": "title",
    "raters": "name",
    "authors": "name",
    "claims": "name",
}
_HIDDEN = ("slugs", "works_text", "sqlite_sequence", "_sqlite_migrations")


def metadata(database: str) -> dict[str, Any]:
    """Datasette metadata for the catalog; the user's own metadata file wins over it.

    Made anew each time: Datasette writes the user's own into what it is given.
    """
    tables: dict[str, dict[str, Any]] = {}
    for name, (description, facets) in _WORDS.items():
        tables[name] = {"description": description}
        if facets:
            tables[name]["facets"] = facets
        if name in _LABELS:
            tables[name]["label_column"] = _LABELS[name]
    tables["works"] |= {"fts_table": "works_fts", "fts_pk": "id"}
    for name in _HIDDEN:
        tables[name] = {"hidden": True}
    return {"databases": {database: {"description": "The catalog's tables, read-only.", "tables": tables}}}


def cell_link(datasette: Any, table: str, column: str, value: Any) -> Markup | None:
    """A link from a slug or a run's number to the page that shows it.

    Datasette gives a foreign key as a value with its label.
    """
    if isinstance(value, dict):
        value = value["value"]
    page = {
        ("works", "slug"): "works",
        ("artifacts", "slug"): "artifacts",
        ("artifacts_current", "slug"): "artifacts",
        ("votes_current", "work"): "works",
        ("scores_readable", "work"): "works",
        ("claims_readable", "artifact"): "artifacts",
        ("checks", "verification_id"): "verifications",
        ("adjudications_current", "work"): "works",
        ("category_states", "work"): "works",
        ("category_votes", "work"): "works",
        ("calls_readable", "work"): "works",
        ("calls_readable", "release"): "models",
        ("model_releases", "slug"): "models",
        ("studies", "slug"): "studies",
        ("samples", "study"): "studies",
    }.get((table, column))
    if page is None or value is None:
        return None
    return Markup('<a href="{}">{}</a>').format(datasette.urls.path(f"/{page}/{value}"), value)
