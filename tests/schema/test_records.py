"""Every record survives JSON, publishes a schema that its examples satisfy, and refuses what is wrong."""

import hashlib
import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schema.artifact import Manifest
from schema.base import DecimalString, PackagePath, canonical_json
from schema.export import RECORDS, json_schema
from schema.verification import GENESIS, Verification, chain_hash

HASH = "a" * 64
AT = "2026-01-02T03:04:05Z"
WORK: dict[str, Any] = {
    "id": "gavel",
    "title": "Gavel",
    "authors": [{"name": "A B", "orcid": "0000-0002-1825-0097"}],
    "year": 2020,
    "abstract": {"text": "x", "source": "arXiv"},
    "identifiers": [
        {"scheme": "doi", "value": "10.1000/x"},
        {"scheme": "arxiv", "value": "2008.09213", "version": "v1"},
    ],
}
FILE = {"path": "in/a.csv", "role": "input", "bytes": 3, "sha256": HASH}
ANALYSIS = {"id": "sum", "kind": "query", "inputs": {"a": "in/a.csv"}, "sql": "select 1"}
CLAIM = {
    "id": "total",
    "text": "It is 1.50.",
    "value": "1.50",
    "tolerance": {"kind": "half_unit", "reason": "printed with two decimals"},
    "evidence": [{"analysis": "sum", "pointer": "/rows/0/0"}],
}
FINDING = {
    "id": "ours",
    "text": "It is 2.",
    "value": "2",
    "kind": "finding",
    "relation": {"kind": "contradicts", "claim": "total", "reason": "counted again"},
}
MANIFEST: dict[str, Any] = {
    "manifest_version": 1,
    "id": "gavel-allocation",
    "title": "Package",
    "work": WORK,
    "licence": "MIT",
    "files": [FILE, {"path": "page.html", "role": "source", "bytes": 0, "sha256": HASH}],
    "sources": [{"title": "Page", "file": "page.html", "selector": "script#x", "equals": "in/a.csv"}],
    "analyses": [ANALYSIS],
    "claims": [CLAIM, FINDING],
}
ROUND = {
    "id": "r1",
    "study": "S",
    "title": "R",
    "instrument": "title",
    "categories": ["gpu"],
    "panel": 2,
    "source": "x",
}
RATER = {"id": "m1", "kind": "model", "name": "M"}
VOTE = {
    "id": "v1",
    "round": "r1",
    "work": "gavel",
    "rater": "m1",
    "decision": "in_scope",
    "categories": ["gpu"],
    "reason": "says so",
    "reason_wording": "verbatim",
}
STATEMENT = {
    "id": "s1",
    "work": "gavel",
    "publisher": "P",
    "about": "scope",
    "text": "in",
    "wording": "verbatim",
    "source": "x",
}
RELEASE = {
    "id": "rel",
    "title": "R",
    "status": "draft",
    "maturity": "unknown",
    "decimals": 3,
    "source": "x",
    "heads": [{"name": "h", "categories": ["gpu"]}],
}
SCORE = {"work": "gavel", "release": "rel", "head": "h", "category": "gpu", "value": "0.125"}
CHECK = {"kind": "claim", "subject": "total", "outcome": "identical", "depth": "recomputed"}
COUNTS = dict.fromkeys(
    [
        "files",
        "files_matching",
        "claims",
        "confirmed",
        "denied",
        "could_not_run",
        "not_recomputed",
        "saved",
        "findings",
        "findings_confirmed",
        "independent",
    ],
    0,
)
RUN: dict[str, Any] = {
    "artifact": "gavel-allocation",
    "work": "gavel",
    "manifest_sha256": HASH,
    "origin": "folder",
    "level": "recompute",
    "outcome": "verified",
    "depth": "recomputed",
    "verdict": "Verified – «ok»",
    "counts": COUNTS,
    "started_at": AT,
    "finished_at": AT,
    "who": "me",
    "code_version": "0.1.0",
    "seeds": {"trace": 0},
    "checks": [CHECK],
    "environment": {"python": "3.11", "platform": "linux", "machine": "", "sqlite": "3.45", "packages": {}},
}
IMPORT = {
    "sha256": HASH,
    "filename": "a.bib",
    "format": "bibtex",
    "reader": "proofshelf bibtex",
    "reader_version": "1",
    "who": "me",
    "started_at": AT,
    "finished_at": AT,
    "read": 3,
    "added": 1,
    "updated": 0,
    "unchanged": 0,
    "duplicate": 1,
    "rejected": 1,
}
RUBRIC: dict[str, Any] = {
    "id": "metacan",
    "version": "1",
    "title": "MétaCan's categories",
    "categories": [
        {"id": "metaresearch", "label": "Metaresearch"},
        {"id": "open_science", "label": "Open science", "stands_alone": True},
        {"id": "insufficient_payload", "label": "Can't be screened", "cannot_be_screened": True},
    ],
    "fields": [
        {"id": "genre", "label": "Genre", "values": ["empirical", "essay"], "required": "always"},
        {
            "id": "domain",
            "label": "Domain",
            "values": ["methods", "reporting"],
            "many": True,
            "required": "exactly_when",
            "when": "metaresearch",
        },
    ],
    "instructions": "Read the title.",
}
SAMPLE: dict[str, Any] = {
    "id": "first-draw",
    "salt": "salt",
    "strata": [
        {"id": "french", "where": {"field": "language", "equals": "fr"}, "draw": 2},
        {"id": "rest", "where": {"otherwise": True}},
    ],
}
STUDY: dict[str, Any] = {
    "id": "study",
    "title": "A study",
    "rubric": RUBRIC,
    "raters": [{"id": "ann", "kind": "human", "name": "Ann"}, RATER],
    "samples": [SAMPLE],
    "rounds": [
        {
            "id": "study-titles",
            "title": "Titles",
            "instrument": "title",
            "raters": ["ann"],
            "adjudicators": [RATER["id"]],
            "sample": "first-draw",
        }
    ],
}
QUOTA = {
    "head": "codex", "category": "metaresearch", "covered": 100, "positives": 20, "ess_positives": 12.5,
    "supported": True, "rate": 0.1, "rate_low": 0.05, "rate_high": 0.2, "k": 10, "k_low": 5, "k_high": 20,
}  # fmt: skip
EXAMPLES: dict[str, dict[str, Any]] = {
    "study": STUDY,
    "rubric": RUBRIC,
    "sample": SAMPLE,
    "chunk": {"round": "study-titles", "position": 1, "works": ["W1", "W2"], "sha256": HASH},
    "ballot": {
        "work": "W1",
        "decision": "in_scope",
        "categories": ["metaresearch"],
        "fields": {"genre": ["essay"], "domain": ["methods", "reporting"]},
        "confidence": "high",
        "reason": "It studies how trials are reported.",
    },
    "adjudication": {
        "id": "a1",
        "round": "study-titles",
        "work": "w1",
        "rater": "ann",
        "decision": "unresolved",
    },
    "decisions": {
        "id": "calls-1",
        "release": "r1",
        "status": "machine_predicted_unvalidated",
        "works": 120,
        "covered": 100,
        "quotas": [QUOTA],
    },
    "work": WORK,
    "identifier": WORK["identifiers"][1],
    "import": IMPORT,
    "rejected": {"line": 3, "raw": "@misc{", "reason": "not closed"},
    "round": ROUND,
    "rater": RATER,
    "vote": VOTE,
    "statement": STATEMENT,
    "release": RELEASE,
    "score": SCORE,
    "screening": {
        "rounds": [ROUND],
        "raters": [RATER],
        "votes": [VOTE],
        "statements": [STATEMENT],
        "releases": [RELEASE],
        "scores": [SCORE],
    },
    "manifest": MANIFEST,
    "file": FILE,
    "analysis": ANALYSIS,
    "claim": CLAIM,
    "verification": RUN,
    "check": CHECK,
    "event": {"at": AT, "who": "me", "action": "import", "subject": "a.bib", "detail": {"added": 1}},
}


def test_every_record_has_an_example() -> None:
    assert set(RECORDS) == set(EXAMPLES)


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_record_round_trips_through_json(name: str) -> None:
    record = RECORDS[name].model_validate(EXAMPLES[name])
    assert RECORDS[name].model_validate_json(record.model_dump_json()) == record
    assert RECORDS[name].model_validate(json.loads(canonical_json(record.model_dump(mode="json")))) == record


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_json_schema_accepts_what_the_record_writes_and_nothing_unknown(name: str) -> None:
    validator = jsonschema.Draft202012Validator(json_schema(name))
    validator.check_schema(json_schema(name))
    validator.validate(EXAMPLES[name])
    validator.validate(json.loads(RECORDS[name].model_validate(EXAMPLES[name]).model_dump_json()))
    with pytest.raises(jsonschema.ValidationError, match="surprise"):
        validator.validate({**EXAMPLES[name], "surprise": 1})
    with pytest.raises(ValidationError, match="surprise"):
        RECORDS[name].model_validate({**EXAMPLES[name], "surprise": 1})


def test_unknown_record_kind_has_no_schema() -> None:
    with pytest.raises(KeyError):
        json_schema("nothing")


def changed(**fields: Any) -> dict[str, Any]:
    return {**MANIFEST, **fields}


def claim(**fields: Any) -> dict[str, Any]:
    return changed(claims=[{**CLAIM, **fields}])


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (changed(work={"title": "T"}), "`work.id` is missing"),
        (changed(id="gavel"), "package and work are both called 'gavel'"),
        (changed(files=[]), "at least 1 item"),
        (changed(files=[FILE, FILE]), "file 'in/a.csv' is there twice"),
        (changed(files=[*MANIFEST["files"], {**FILE, "path": "IN/A.csv"}]), "ignoring case and Unicode form"),
        (changed(files=[*MANIFEST["files"], {**FILE, "path": "manifest.json"}]), "can't list itself"),
        (changed(analyses=[ANALYSIS, ANALYSIS]), "analysis 'sum' is there twice"),
        (changed(claims=[CLAIM, CLAIM]), "claim 'total' is there twice"),
        (changed(sources=[{"title": "P", "file": "no.html"}]), "'no.html' is not among `files`"),
        (changed(sources=[{"title": "P", "selector": "a"}]), "`selector` and `equals` go together"),
        (changed(sources=[{"title": "P", "selector": "a", "equals": "in/a.csv"}]), "needs the `file`"),
        (changed(screening="s.json"), "`screening`: 's.json' is not among `files`"),
        (
            changed(analyses=[{**ANALYSIS, "inputs": {"a": "b.csv"}}]),
            "input 'a' is 'b.csv', not among `files`",
        ),
        (changed(analyses=[{**ANALYSIS, "sql": None}]), "kind 'query' needs `sql`"),
        (changed(analyses=[{**ANALYSIS, "argv": ["x"]}]), "`argv` doesn't belong to kind 'query'"),
        (
            claim(evidence=[{"analysis": "gone", "pointer": ""}]),
            "points to analysis 'gone', which isn't there",
        ),
        (claim(value="1,5"), "'1,5' is not a finite decimal number"),
        (claim(value="NaN"), "not a finite decimal number"),
        (claim(type="boolean", tolerance={}), "a boolean is 'true' or 'false', not '1.50'"),
        (claim(type="text"), "only a number can have a tolerance"),
        (claim(kind="finding"), "a finding, and only a finding, names its `relation`"),
        (claim(tolerance={"kind": "absolute"}), "tolerance 'absolute' needs `value`"),
        (claim(tolerance={"value": "1"}), "tolerance 'exact' takes no `value`"),
        (claim(tolerance={"kind": "relative", "value": "-1"}), "can't be negative"),
        (claim(tolerance={"reason": " "}), "states its `reason`"),
        (claim(tolerance={"kind": "half_unit"}), "a tolerance of kind 'half_unit' states its `reason`"),
        (changed(claims=[FINDING]), "speaks of 'total', no published claim here"),
        (changed(manifest_version=2), "Input should be 1"),
    ],
)
def test_manifest_says_what_is_wrong(manifest: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as error:
        Manifest.model_validate(manifest)
    assert sentence in str(error.value)


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../a", "a/../b", "C:/a", "a\\b", "a//b", "./a", "a/", "", "a\nb", "a/."],
)
def test_paths_that_leave_or_confuse_are_refused(path: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(PackagePath).validate_python(path)


@pytest.mark.parametrize("text", ["1", "-1.50", "+.5", "1.", "1e-7", "00", "1E+10"])
def test_decimals_keep_their_digits(text: str) -> None:
    assert TypeAdapter(DecimalString).validate_python(text) == text


@pytest.mark.parametrize("text", ["", "1,5", "NaN", "inf", "1e", "1e12345", "0x1", " 1", "1\n", "١"])
def test_what_is_no_decimal_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(DecimalString).validate_python(text)


@pytest.mark.parametrize(
    "at", ["2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00", "٢٠٢٦-01-02T03:04:05Z"]
)
def test_a_timestamp_is_utc_in_ascii_digits(at: str) -> None:
    with pytest.raises(ValidationError):
        RECORDS["event"].model_validate({**EXAMPLES["event"], "at": at})


def test_an_import_accounts_for_every_record() -> None:
    with pytest.raises(ValidationError, match="4 records read, but 3 accounted for"):
        RECORDS["import"].model_validate({**IMPORT, "read": 4})


@pytest.mark.parametrize("slug", ["a", "a-b", "a.b_c-9", "9", "a" * 100])
def test_slugs(slug: str) -> None:
    assert RECORDS["work"].model_validate({"id": slug, "title": "T"}).model_dump()["id"] == slug


@pytest.mark.parametrize("slug", ["", "A", "-a", "a-", "a b", "a/b", "é", "a\n", "a" * 101])
def test_what_is_no_slug(slug: str) -> None:
    with pytest.raises(ValidationError):
        RECORDS["work"].model_validate({"id": slug, "title": "T"})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(json_values)
def test_canonical_json_keeps_the_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value
    assert canonical_json(json.loads(canonical_json(value))) == canonical_json(value)


@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), st.integers(), max_size=6))
def test_canonical_json_ignores_the_order_of_keys(value: dict[str, int]) -> None:
    assert canonical_json(dict(reversed(value.items()))) == canonical_json(value)


def test_canonical_json_by_hand() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "é\n"}) == '{"a":"é\\n","b":[1,2.5,null]}'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), [float("nan")]])
def test_canonical_json_has_no_nan(value: Any) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(value)


def test_canonical_json_takes_json_only() -> None:
    with pytest.raises(TypeError):
        canonical_json({"a": {1, 2}})


def test_chain_hash_by_hand() -> None:
    """The bytes written out: sorted keys, every field with its null, no spaces, UTF-8."""
    check = (
        '{"analysis":null,"depth":"recomputed","detail":null,"difference":null,"expected":null,'
        '"implementation":null,"kind":"claim","observed":null,"outcome":"identical","pointer":null,'
        '"subject":"total"}'
    )
    counts = (
        '{"claims":0,"confirmed":0,"could_not_run":0,"denied":0,"files":0,"files_matching":0,"findings":0,'
        '"findings_confirmed":0,"independent":0,"not_recomputed":0,"saved":0}'
    )
    run = (
        f'{{"artifact":"gavel-allocation","checks":[{check}],"code_version":"0.1.0","counts":{counts},'
        '"depth":"recomputed","environment":{"machine":"","packages":{},"platform":"linux","python":"3.11",'
        f'"sqlite":"3.45"}},"finished_at":"{AT}","git_commit":null,"level":"recompute",'
        f'"manifest_sha256":"{HASH}","origin":"folder","outcome":"verified","seeds":{{"trace":0}},"started_at":"{AT}",'
        '"verdict":"Verified – «ok»","who":"me","work":"gavel"}'
    )
    first = hashlib.sha256(f'{{"previous":"{"0" * 64}","run":{run}}}'.encode()).hexdigest()
    second = hashlib.sha256(f'{{"previous":"{first}","run":{run}}}'.encode()).hexdigest()
    record = Verification.model_validate(RUN)
    assert chain_hash(GENESIS, record) == first
    assert chain_hash(first, record) == second


@pytest.mark.parametrize(
    "field", ["outcome", "verdict", "who", "seeds", "checks", "counts", "finished_at", "manifest_sha256"]
)
def test_chain_hash_covers_every_field(field: str) -> None:
    other: dict[str, Any] = {
        "outcome": "failed",
        "verdict": "x",
        "who": "you",
        "seeds": {"trace": 1},
        "checks": [],
        "counts": {**COUNTS, "files": 1},
        "finished_at": "2026-01-02T03:04:06Z",
        "manifest_sha256": "b" * 64,
    }
    record = Verification.model_validate(RUN)
    edited = Verification.model_validate({**RUN, field: other[field]})
    assert chain_hash(GENESIS, record) != chain_hash(GENESIS, edited)
