"""A catalog in a real file, and small packages written by hand.

What many tests begin with is made once in a session, and each test gets a copy of the file.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from catalog.ballots import AnswerMeta
from catalog.chain import stored_run
from catalog.store import Catalog, create, open_catalog
from schema.ballots import Ballot
from schema.scores import DecisionRun, Head, ModelRelease, Quota
from schema.study import Study
from schema.verification import Verification

CATEGORIES = ("metaresearch", "open_science")


def screening_record(work: str = "demo", **changes: Any) -> dict[str, Any]:
    """A panel of three models that all call the work out of scope, and scores of a two-headed model."""
    record: dict[str, Any] = {
        "raters": [{"id": f"model-{n}", "kind": "model", "name": f"Model {n}"} for n in (1, 2, 3)],
        "rounds": [
            {
                "id": "round-1",
                "study": "A study",
                "title": "Three-model screen",
                "instrument": "title+abstract",
                "categories": list(CATEGORIES),
                "panel": 3,
                "source": "its record page",
            }
        ],
        "votes": [
            {
                "id": f"vote-{n}",
                "round": "round-1",
                "work": work,
                "rater": f"model-{n}",
                "decision": "out_of_scope",
                "reason": "A systems paper.",
                "reason_wording": "paraphrased",
            }
            for n in (1, 2, 3)
        ],
        "statements": [
            {
                "id": "full-frame-status",
                "work": work,
                "publisher": "A study",
                "about": "full-frame prediction",
                "text": "a candidate call from one source",
                "wording": "verbatim",
                "source": "its record page",
            }
        ],
        "releases": [
            {
                "id": "student-v0",
                "title": "Student",
                "status": "score_only:v0-immature-baseline",
                "maturity": "not_passed",
                "decimals": 3,
                "heads": [
                    {"name": "Codex", "categories": list(CATEGORIES)},
                    {"name": "Gemma", "categories": list(CATEGORIES)},
                ],
                "source": "its record page",
            }
        ],
        "scores": [
            {"work": work, "release": "student-v0", "head": head, "category": category, "value": value}
            for head, category, value in (
                ("Codex", "metaresearch", ".002"),
                ("Codex", "open_science", "0.004"),
                ("Gemma", "metaresearch", "0.004"),
                ("Gemma", "open_science", "0.000"),
            )
        ],
        "caveats": ["Not ground truth.", "A score ranks and never asserts."],
    }
    return record | changes


@pytest.fixture
def screening() -> Callable[..., dict[str, Any]]:
    """Makes a screening record; see `screening_record`."""
    return screening_record


def packages_in(root: Path) -> Callable[..., Path]:
    """Writes packages into a folder: one CSV, a query for its sum, a claim of it; `changes` go into the
    manifest.
    """
    written = 0

    def write(
        name: str = "demo-package",
        *,
        work: dict[str, Any] | None = None,
        csv: str = "x\n1\n2\n",
        screened: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Path:
        nonlocal written
        written += 1
        folder = root / f"package-{written}"
        folder.mkdir()
        contents = {"inputs.csv": csv.encode()}
        if screened is not None:
            contents["screening.json"] = json.dumps(screened).encode()
            changes.setdefault("screening", "screening.json")
        files = []
        for path, data in contents.items():
            (folder / path).write_bytes(data)
            sha256 = hashlib.sha256(data).hexdigest()
            files.append({"path": path, "role": "input", "bytes": len(data), "sha256": sha256})
        manifest: dict[str, Any] = {
            "manifest_version": 1,
            "id": name,
            "title": "A demonstration",
            "licence": "CC0-1.0",
            "work": work or {"id": "demo", "title": "A demonstrated work", "authors": [{"name": "Ann Bee"}]},
            "files": files,
            "analyses": [
                {"id": "total", "kind": "query", "inputs": {"t": "inputs.csv"}, "sql": "SELECT sum(x) FROM t"}
            ],
            "claims": [
                {
                    "id": "sum",
                    "text": "the sum is 3",
                    "value": "3",
                    "evidence": [{"analysis": "total", "pointer": "/rows/0/0"}],
                },
                {"id": "told", "text": "something only told", "value": "42"},
            ],
        }
        (folder / "manifest.json").write_text(json.dumps(manifest | changes), encoding="utf-8")
        return folder

    return write


@pytest.fixture
def write_package(tmp_path: Path) -> Callable[..., Path]:
    """Writes a package; see `packages_in`."""
    return packages_in(tmp_path)


def study_record(**changes: Any) -> dict[str, Any]:
    """A study of two people and a model with an adjudicator: a sample by rules, and a round of it."""
    record: dict[str, Any] = {
        "id": "tiny",
        "title": "A tiny study",
        "synthetic": True,
        "rubric": {
            "id": "rubric",
            "version": "1",
            "title": "What is it about?",
            "categories": [
                {"id": "metaresearch", "label": "Metaresearch"},
                {"id": "open-science", "label": "Open science"},
                {"id": "unreadable", "label": "Cannot be screened", "cannot_be_screened": True},
            ],
            "fields": [
                {
                    "id": "domain",
                    "label": "Domain",
                    "values": ["health", "physics"],
                    "many": True,
                    "required": "exactly_when",
                    "when": "metaresearch",
                },
                {"id": "exclusion_reason", "label": "Why not?", "values": ["topic", "language"]},
            ],
            "asks_confidence": False,
        },
        "raters": [
            {"id": "ann", "kind": "human", "name": "Ann"},
            {"id": "ben", "kind": "human", "name": "Ben"},
            {"id": "bot", "kind": "model", "name": "Bot", "version": "2026-01"},
            {"id": "judge", "kind": "human", "name": "Judge"},
        ],
        "samples": [
            {
                "id": "first",
                "salt": "s",
                "strata": [
                    {"id": "old", "where": {"field": "year", "at_most": 2009}, "draw": 6},
                    {"id": "new", "where": {"otherwise": True}, "draw": 4},
                ],
            }
        ],
        "rounds": [
            {
                "id": "screen",
                "title": "The screen",
                "instrument": "title+abstract",
                "raters": ["ann", "ben", "bot"],
                "adjudicators": ["judge"],
                "sample": "first",
                "chunk_size": 4,
                "seed": 7,
            }
        ],
        "caveats": ["A synthetic study."],
    }
    return record | changes


@pytest.fixture
def make_study() -> Callable[..., Study]:
    """Makes a study; see `study_record`."""
    return lambda **changes: Study.model_validate(study_record(**changes))


def works_as_bibtex(works: int, first: int = 0) -> str:
    """Works w0, w1 and so on: even ones of 2001, odd ones of 2011, each with abstract, author and venue."""
    return "".join(
        f"@article{{w{n}, title={{Study of matter {n}}}, author={{Doe, Jane}}, journal={{Venue {n}}}, "
        f"year={{{2001 + 10 * (n % 2)}}}, doi={{10.1000/w{n}}}, abstract={{Abstract {n}.}}}}\n"
        for n in range(first, first + works)
    )


@pytest.fixture
def bibliography() -> Callable[..., str]:
    """Writes works as BibTeX; see `works_as_bibtex`."""
    return works_as_bibtex


def of_twenty(catalog: Catalog, folder: Path) -> None:
    """Import twenty works, ten of 2001 and ten of 2011."""
    path = folder / "twenty.bib"
    path.write_text(works_as_bibtex(20), encoding="utf-8")
    catalog.import_file(path, "tester")


def with_study(catalog: Catalog, folder: Path) -> None:
    """Take the tiny study in, draw its sample, write its manifest."""
    catalog.add_study(Study.model_validate(study_record()), "0" * 64, "tester")
    catalog.draw_sample("tiny", "first", who="tester")
    catalog.write_manifest("screen", "tester")


def in_every_table(catalog: Catalog, folder: Path) -> None:
    """Rows in every table, but for those of a study taken here."""
    write_package = packages_in(folder)
    catalog.add_package(write_package(screened=screening_record()), "tester")
    bibliography = folder / "some.bib"
    bibliography.write_text(
        "@article{a, title={Alpha and omega}, author={Doe, Jane}, doi={10.1000/alpha}}\n"
        "@article{b, title={Alpha and omega}, author={Doe, Jane}, doi={10.1000/alpha}, year={2001}}\n"
        "@article{nameless, author={Doe, Jane}}\n",
        encoding="utf-8",
    )
    catalog.import_file(bibliography, "tester")
    # The catalog knows this work by another name, so the package's name becomes an alias of it.
    catalog.add_package(
        write_package(
            "alpha-package",
            work={
                "id": "alpha",
                "title": "Alpha and omega",
                "identifiers": [{"scheme": "doi", "value": "10.1000/alpha"}],
            },
        ),
        "tester",
    )
    catalog.verify_artifact("demo-package", who="tester")


def of_a_study(catalog: Catalog, folder: Path) -> None:
    """Rows in the tables of a study taken here."""
    record = study_record()
    record["samples"][0]["strata"] = [{"id": "all"}]
    catalog.add_study(Study.model_validate(record), "0" * 64, "tester")
    catalog.draw_sample("tiny", "first", who="tester")
    (chunk,) = catalog.write_manifest("screen", "tester")
    one, two = chunk.works
    answers = [{"id": work, "decision": "out_of_scope"} for work in chunk.works]
    catalog.record_answer("screen", 1, "bot", AnswerMeta(raw=json.dumps(answers)), answers, who="tester")
    catalog.cast_vote("screen", "ann", Ballot(work=one, decision="unsure"), "tester")
    catalog.skip("screen", "ann", two, "tester")
    for reason in ("first", "second"):
        catalog.adjudicate("screen", "judge", one, "unresolved", reason=reason, who="tester")
    release = ModelRelease(
        id="release",
        title="A student",
        status="score_only:v0-immature-baseline",
        maturity="not_passed",
        decimals=6,
        heads=(Head(name="bot", categories=("metaresearch",)),),
        source="trained here",
        study="tiny",
    )
    catalog.record_release(release, {"made": "up"}, "1" * 64, {"weights.json": b"[]"}, "tester")
    catalog.record_scores("release", [(one, [0.25]), (two, [0.75])], "tester")
    quota = Quota(
        head="bot", category="metaresearch", covered=2, k=1, positives=20, ess_positives=10, supported=True
    )
    run = DecisionRun(
        id="run",
        release="release",
        status="machine_predicted_unvalidated",
        works=2,
        covered=2,
        quotas=(quota,),
    )
    catalog.record_decisions(run, [(two, "metaresearch", ["bot"])], "tester")


def further_run(catalog: Catalog, number: int) -> Verification:
    """The first run again, told apart by its number; nothing is computed again."""
    stored = stored_run(catalog.connection, 1)
    assert stored is not None
    assert stored.run is not None
    return stored.run.model_copy(update={"who": f"tester {number}"})


def to_five_runs(catalog: Catalog, folder: Path) -> None:
    """Record four runs more."""
    for number in range(2, 6):
        catalog.record_verification(1, further_run(catalog, number))


# What is made -> out of what, and how.
MADE: dict[str, tuple[str | None, Callable[[Catalog, Path], None]]] = {
    "empty": (None, lambda catalog, folder: None),
    "shelf": ("empty", of_twenty),
    "studied": ("shelf", with_study),
    "full": ("empty", in_every_table),
    "everything": ("full", of_a_study),
    "chained": ("full", to_five_runs),
}


def upwards(name: str | None) -> Iterator[str]:
    """A name and the names out of which it is made."""
    while name is not None:
        yield name
        name = MADE[name][0]


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives a folder with the catalog of a name in `MADE`, which nobody writes into again."""

    @cache
    def folder(name: str) -> Path:
        before, make = MADE[name]
        place = tmp_path_factory.mktemp(name)
        path = place / "shelf.db"
        if before is None:
            create(path, who="tester").close()
        else:
            shutil.copytree(folder(before), place, dirs_exist_ok=True)
        with open_catalog(path, writable=True) as catalog:
            make(catalog, tmp_path_factory.mktemp("material"))
        return place

    return folder


@pytest.fixture
def catalog(request: pytest.FixtureRequest, made: Callable[[str], Path], tmp_path: Path) -> Iterator[Catalog]:
    """A new, empty catalog in a real file, or what the test's other fixtures say of it (see `MADE`)."""
    asked = [name for name in MADE if name in request.fixturenames]
    name = asked[-1] if asked else "empty"
    assert set(asked) <= set(upwards(name)), f"no catalog is all of {asked}"
    shutil.copytree(made(name), tmp_path, dirs_exist_ok=True)
    with open_catalog(tmp_path / "shelf.db", writable=True) as opened:
        yield opened


@pytest.fixture
def shelf(catalog: Catalog) -> Catalog:
    """A catalog of twenty works, ten of 2001 and ten of 2011."""
    return catalog


@pytest.fixture
def studied(shelf: Catalog) -> Catalog:
    """The tiny study with its sample drawn (6 of 10 and 4 of 10 works) and its manifest of 3 chunks."""
    return shelf


@pytest.fixture
def full(catalog: Catalog) -> Catalog:
    """A catalog with rows in every table, but for those of a study taken here (see `everything`)."""
    return catalog


@pytest.fixture
def everything(full: Catalog) -> Catalog:
    """A catalog with rows in every table, also those of a study taken here."""
    return full


@pytest.fixture
def run_of(full: Catalog) -> Callable[[int], Verification]:
    """A further run of the demo package, told apart by its number; nothing is computed again."""
    return lambda number: further_run(full, number)


@pytest.fixture
def chained(full: Catalog) -> Catalog:
    """A catalog with a chain of five runs."""
    return full
