"""A study from its design to its flow diagram and its exports, by the commands."""

import csv
import hashlib
import io
import json
import re
from importlib import metadata
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

STATUSES = {"human_direct", "machine_direct_unvalidated"}


def read(result: Any, code: int = 0) -> Any:
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


def refusal(result: Any, code: int = 1) -> str:
    """The one sentence on standard error."""
    assert result.exit_code == code, result.output
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert "unexpected" not in lines[0]
    return str(lines[0].removeprefix("proofshelf: "))


def vote(tea: Path, run: Any, rows: str, *more: str) -> Any:
    (tea / "votes.csv").write_text(rows, encoding="utf-8")
    return run("screen", "import-votes", "votes.csv", "--round", "all", *more)


# able to jig in the order of conftest: ada includes four, ben five, both three, as many of "trial".
ADA = {"able", "baker", "charlie", "dog"}
BEN = {"able", "baker", "charlie", "easy", "fox"}


def rows_of(given: dict[str, set[str]], slugs: dict[str, str], unsure: tuple[str, ...] = ()) -> str:
    lines = ["work,rater,decision,categories,reason"]
    for rater, included in given.items():
        for name, slug in slugs.items():
            decision = "in_scope" if name in included else "unsure" if name in unsure else "out_of_scope"
            lines.append(f"{slug},{rater},{decision},{'trial' if name in included else ''},")
    return "\n".join(lines) + "\n"


@pytest.fixture
def slugs(run: Any, tea: Path) -> dict[str, str]:
    """Name -> slug of the ten works."""
    rows = json.loads(run("list", "works", "--json").stdout)["rows"]
    return {row["slug"].split("-")[0]: row["slug"] for row in sorted(rows, key=lambda r: r["slug"])}


# Design ----------------------------------------------------------------------------------------------


def test_example_is_printed_and_can_be_recorded(run: Any, tmp_path: Path) -> None:
    run("init")
    text = run("screen", "design", "--example").stdout
    (tmp_path / "pilot.toml").write_text(text)
    facts = read(run("screen", "design", "pilot.toml", "--json"))
    assert facts["added"]["new"] is True
    assert facts["file_sha256"] == hashlib.sha256(text.encode()).hexdigest()
    again = run("screen", "design", "pilot.toml")
    assert "Here already, unchanged: pilot, version 1" in again.stdout
    assert "Next: proofshelf screen sample pilot pilot-sample" in again.stdout
    assert read(run("screen", "design", "--example", "--json")) == {"study": text}


def test_simple_study_is_written_once(run: Any, tmp_path: Path) -> None:
    run("init")
    line = ("screen", "design", "--simple", "menon", "--title", "Defects & tests", "menon.toml")
    assert run(*line).exit_code == 0
    assert refusal(run(*line)) == "menon.toml is there already; --force replaces it"
    assert "Recorded menon, version 1" in run("screen", "design", "menon.toml").stdout


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        ("design", 2, "say which FILE; --example prints one to begin with"),
        ("design --simple x", 2, "--title goes with --simple, and neither with --example"),
        ("design --simple X! --title T", 1, "study.toml line 1: id: 'X!' isn't an id; expected lower-case"),
        ("design --example x.json", 1, "x.json: the study is written as TOML; expected a name that ends in"),
        ("design nowhere.toml", 1, "nowhere.toml is not there; `proofshelf screen design --example` shows"),
        ("sample tea thirds", 1, "study tea has no sample 'thirds'"),
        ("sample coffee half", 1, "there is no study 'coffee' here; there is tea"),
        ("manifest nowhere", 1, "there is no round 'nowhere' here; there is all, sampled"),
        ("status coffee", 1, "there is no study 'coffee' here"),
        ("import-votes v.csv", 2, "say which --round, or with --published which study they are from"),
        ("import-votes v.csv --round all --title T", 2, "--title goes with --published"),
        ("import-votes v.csv --published x --title T", 2, "--published needs --source too"),
        ("flow tea --to flow.pdf", 1, "flow.pdf: expected a name that ends in .svg, .png or .json"),
        ("agreement all --category tea", 1, "'tea' is no category of round all; expected scope or one of"),
        ("prevalence all --sensitivity 0.5 0.9", 2, "--sensitivity and --specificity go together"),
        ("desing", 2, "there is no command 'screen desing'; did you mean `design`?"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(run: Any, tea: Path, line: str, code: int, sentence: str) -> None:
    assert refusal(run("screen", *line.split()), code).startswith(sentence)


def test_a_study_that_changes_what_was_asked_is_refused(run: Any, tea: Path) -> None:
    text = (tea / "study.toml").read_text()
    (tea / "other.toml").write_text(text.replace('label = "Trial"', 'label = "Any study"'))
    before = read(run("screen", "status", "tea", "--json"))
    assert refusal(run("screen", "design", "other.toml"))
    assert read(run("screen", "status", "tea", "--json")) == before


# Samples, manifests, status ------------------------------------------------------------------------------


def test_sample_is_drawn_once_in_the_order_of_its_hash(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    drawn = read(run("screen", "sample", "tea", "half", "--json"))
    assert drawn["new"] is False
    # Order of SHA-256(id || salt), worked apart from the code; 3 of 6 and 2 of 4 weigh 2 each.
    recent = [slugs[n] for n in ("able", "baker", "charlie", "dog", "easy", "fox")]
    older = [slugs[n] for n in ("george", "how", "item", "jig")]
    expected = {
        slug
        for stratum, n in ((recent, 3), (older, 2))
        for slug in sorted(stratum, key=lambda s: hashlib.sha256(f"{s}s".encode()).hexdigest())[:n]
    }
    chunks = read(run("screen", "manifest", "sampled", "--json"))["chunks"]
    assert {work for chunk in chunks for work in chunk["works"]} == expected
    assert [(s["stratum"], s["frame_size"], s["drawn"], s["weight"]) for s in drawn["strata"]] == [
        ("recent", 6, 3, 2.0), ("older", 4, 2, 2.0),
    ]  # fmt: skip


def test_manifest_goes_to_a_file_and_its_hashes_can_be_checked(run: Any, tea: Path) -> None:
    result = run("screen", "manifest", "all", "--to", "chunks.json")
    assert "all: 3 chunks, 10 works." in result.stdout
    chunks = json.loads((tea / "chunks.json").read_text())
    assert [len(chunk["works"]) for chunk in chunks] == [4, 4, 2]
    for chunk in chunks:
        names = ",".join(f'"{work}"' for work in chunk["works"])
        text = f'{{"position":{chunk["position"]},"round":"all","works":[{names}]}}'
        assert chunk["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    assert refusal(run("screen", "manifest", "all", "--to", "chunks.json")).endswith("--force replaces it")


def test_status_counts_people_and_machines_apart(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(tea, run, rows_of({"ada": ADA}, slugs))
    run("screen", "run", "all", "--rater", "rule")
    page = read(run("screen", "status", "tea", "--json"))
    rows = {row["rater"]["id"]: row for view in page["rounds"][:1] for row in view["coverage"]}
    assert [(rows[r]["status"], rows[r]["voted"], rows[r]["in_scope"]) for r in ("ada", "ben", "rule")] == [
        ("human_direct", 10, 4), ("human_direct", 0, 0), ("machine_direct_unvalidated", 10, 5),
    ]  # fmt: skip
    text = run("screen", "status", "tea").stdout
    assert re.search(r"rule \[machine\]\s+machine_direct_unvalidated\s+10\s+10\s+5\s+5", text)
    assert re.search(r"ada \[person\]\s+human_direct\s+10\s+10\s+4\s+6", text)
    assert "Tea only." in text
    listed = read(run("screen", "status", "--json"))["studies"]
    assert [(s["slug"], s["human_votes"], s["machine_votes"]) for s in listed] == [("tea", 10, 10)]


# Votes from files ------------------------------------------------------------------------------------------


def test_votes_are_taken_chunk_by_chunk(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    facts = read(vote(tea, run, rows_of({"ada": ADA, "ben": BEN}, slugs), "--json"))
    assert (facts["read"], facts["taken"], facts["refused"]) == (20, 20, 0)


def in_order(slugs: dict[str, str]) -> dict[str, str]:
    """By name, so that `able` is in line 2."""
    return dict(sorted(slugs.items()))


def bad(slugs: dict[str, str], old: str, new: str) -> str:
    return rows_of({"ada": ADA}, slugs).replace(old, new)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("able-2020-trial,ada", "abel-2020-trial,ada",
         ["votes.csv line 2: 'abel-2020-trial' is no work of round all's manifest",
          "chunk 1 of ada (from line 6): no answer for 'able-2020-trial'"]),
        ("able-2020-trial,ada", "able-2020-trial,ada,in_scope,trial,\nable-2020-trial,ada",
         ["chunk 1 of ada (from line 2): more than one answer for 'able-2020-trial'"]),
        ("able-2020-trial,ada,in_scope,trial", "able-2020-trial,ada,in_scope,trail",
         ["chunk 1 of ada (from line 2): 'able-2020-trial': 'trail' is no category of the rubric"]),
        ("able-2020-trial,ada,in_scope,trial", "able-2020-trial,ada,perhaps,",
         ["chunk 1 of ada (from line 2): 'able-2020-trial': decision is 'perhaps'; expected one of in_scope, "
          "out_of_scope, insufficient_payload, unsure"]),
        ("able-2020-trial,ada,in_scope,trial,\n", "",
         ["chunk 1 of ada (from line 5): no answer for 'able-2020-trial'"]),
    ],
)  # fmt: skip
def test_a_chunk_that_is_not_right_is_kept_and_the_others_go_in(
    run: Any, tea: Path, slugs: dict[str, str], old: str, new: str, told: list[str]
) -> None:
    result = vote(tea, run, bad(in_order(slugs), old, new))
    assert result.exit_code == 1
    lines = [line.strip() for line in result.stdout.splitlines()]
    assert lines[2 : 2 + len(told)] == told
    assert "Traceback" not in result.output
    page = read(run("screen", "status", "tea", "--json"))
    ada = page["rounds"][0]["coverage"][0]
    # Chunks have 4, 4 and 2 works; the one with `able` is left out, whichever it is.
    chunks = read(run("screen", "manifest", "all", "--json"))["chunks"]
    lost = next(len(chunk["works"]) for chunk in chunks if "able-2020-trial" in chunk["works"])
    assert ada["voted"] == 10 - lost
    assert ada["quarantined"] >= 1


def test_labels_from_elsewhere_are_a_study_of_their_own(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    labels = "slug,label_included\n" + "".join(f"{slugs[n]},{int(n in ADA)}\n" for n in slugs) + "gone,1\n"
    (tea / "labels.csv").write_text(labels)
    result = run(
        "screen", "import-votes", "labels.csv", "--published", "old-review", "--title", "An old review",
        "--rater", "old-authors", "--name", "its authors", "--kind", "human", "--source", "its archive",
    )  # fmt: skip
    assert result.exit_code == 1  # one row isn't here; the rest is
    assert "11 rows read: 10 taken, 0 unchanged, 1 in quarantine." in result.stdout
    assert "gone" in result.stdout
    page = read(run("screen", "status", "old-review", "--json"))
    row = page["rounds"][0]["coverage"][0]
    assert (row["status"], row["in_scope"], row["out_of_scope"]) == ("human_direct", 4, 6)


# Flow ---------------------------------------------------------------------------------------------------


def test_flow_counts_and_draws(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(tea, run, rows_of({"ada": ADA, "ben": BEN}, slugs))
    run("screen", "run", "all", "--rater", "rule", "--chunks", "1")
    flow = read(run("screen", "flow", "tea", "--round", "all", "--json"))["flow"]
    stage = flow["stages"][0]
    # Ten records of one file; the rule has read the first chunk of four only, so six await its votes.
    assert (flow["identified"], flow["duplicates"], flow["works"]) == (10, 0, 10)
    assert (stage["selected"], stage["screened"], stage["awaiting"]) == (10, 4, 6)
    assert stage["included"] + stage["excluded"] + stage["unresolved"] == 4
    assert stage["votes"] == "people and machine"
    assert set(stage["statuses"]) == STATUSES
    for name in ("flow.svg", "flow.png", "flow.json"):
        assert run("screen", "flow", "tea", "--round", "all", "--to", name).exit_code == 0
    said = [e.text for e in ElementTree.parse(tea / "flow.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert "Awaiting votes (n = 6)" in said
    assert "by people and machines" in said
    assert (tea / "flow.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert json.loads((tea / "flow.json").read_text()) == flow


# Exports ------------------------------------------------------------------------------------------------


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_a_label_never_leaves_without_what_it_is(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(tea, run, rows_of({"ada": ADA, "ben": BEN}, slugs, unsure=("jig",)))
    assert run("export", "tea", "--what", "labels", "--as", "csv", "--to", "l.csv").exit_code == 0
    rows = [row for row in table(tea / "l.csv") if row["round"] == "all"]
    assert len(rows) == 10 * 3  # scope, trial, cannot
    for row in rows:
        assert set(row["status"].split(" | ")) <= STATUSES
        assert row["rater_kinds"] == "human"
        assert row["instrument"] == "title+abstract"
        assert row["caveats"] == "Tea only."
        assert row["unanimous"] in ("positive", "negative", "unknown")
    trial = {row["work"].split("-")[0]: row for row in rows if row["category"] == "trial"}
    states = {name: trial[name]["state"] for name in ("able", "dog", "easy", "how", "jig")}
    assert states == {
        "able": "agreed_positive", "dog": "single_source", "easy": "single_source",
        "how": "agreed_negative", "jig": "unknown",
    }  # fmt: skip
    # Two of a panel of three have voted: what the panel says isn't known yet, and never negative.
    assert (trial["dog"]["panel"], trial["dog"]["votes"]) == ("3", "2")
    for name in ("jig", "dog", "able"):
        assert [trial[name][which] for which in ("unanimous", "majority", "any")] == ["unknown"] * 3


def test_votes_say_whose_they_are(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(tea, run, rows_of({"ada": ADA}, slugs))
    run("screen", "run", "all", "--rater", "rule")
    assert run("export", "tea", "--what", "votes", "--as", "json", "--to", "v.json").exit_code == 0
    rows = json.loads((tea / "v.json").read_text())["rows"]
    assert {(r["rater"], r["rater_kind"], r["status"], r["standing"], r["synthetic"]) for r in rows} == {
        ("ada", "human", "human_direct", "current", "false"),
        ("rule", "model", "machine_direct_unvalidated", "current", "false"),
    }
    assert all(r["round"] == "all" and r["instrument"] == "title+abstract" for r in rows)
    assert {r["rater_version"] for r in rows if r["rater"] == "rule"} == {
        "proofshelf-keywords-1 (llm " + _llm()
    }


def _llm() -> str:

    return f"{metadata.version('llm')})"


@pytest.mark.parametrize("what", ["labels", "votes", "scores", "calls"])
def test_exports_of_a_study_are_the_same_bytes_each_time(run: Any, tea: Path, what: str) -> None:
    run("screen", "run", "all", "--rater", "rule")
    for name in ("one", "two"):
        assert run("export", "tea", "--what", what, "--as", "json", "--to", name).exit_code == 0
    assert (tea / "one").read_bytes() == (tea / "two").read_bytes()


def test_no_such_study(run: Any, tea: Path) -> None:
    result = run("export", "coffee", "--what", "labels", "--as", "csv", "--to", "x.csv")
    assert refusal(result).startswith("there is no study 'coffee' here")
    assert not (tea / "x.csv").exists()


# Bad input, each by its sentence ---------------------------------------------------------------------------

OLDER = "where = { otherwise = true }"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (OLDER, 'where = { field = "year", at_most = 1999 }',
         "sample half: record george-2000-trial fits no stratum, the first of 4 such records; expected "
         'exactly one, such as one with the rule {"otherwise": true}'),
        (OLDER, 'where = { field = "year", at_least = 1990 }',
         "sample half: record able-2020-trial fits the strata recent and older, the first of 6 such records; "
         "expected exactly one, or overlap = 'first'"),
        ("draw = 3", "draw = 30",
         "sample half: stratum recent has 6 records, fewer than the 30 to draw; ask for fewer, or leave "
         "`draw` out to take all"),
        ("at_least = 2015", 'at_least = "2015"',
         "sample half: record able-2020-trial: field 'year' is 2020, a number, and can't be compared with "
         "'2015' (at_least)"),
        ('field = "year", at_least = 2015', 'field = "colour", equals = "red"',
         "sample half: no record has a field 'colour', which a rule of half asks for"),
        (f"{OLDER}\n", "", "sample half: stratum older has no rule; give a table of works and strata"),
    ],
)  # fmt: skip
def test_a_sample_that_cannot_be_drawn(run: Any, tea: Path, old: str, new: str, sentence: str) -> None:
    # A study of its own, since the fixture's sample is drawn already.
    text = (tea / "study.toml").read_text().replace('id = "tea"', 'id = "other"')
    text = re.sub(r'\[\[rounds\]\]\nid = "(\w+)"', r'[[rounds]]\nid = "other-\1"', text)
    assert old in text
    (tea / "other.toml").write_text(text.replace(old, new))
    assert run("screen", "design", "other.toml").exit_code == 0
    assert refusal(run("screen", "sample", "other", "half")) == sentence
    assert read(run("screen", "status", "other", "--json"))["samples"][0]["drawn"] is None


def test_a_table_of_strata_that_leaves_a_gap(run: Any, tea: Path) -> None:
    text = (tea / "study.toml").read_text().replace('id = "tea"', 'id = "other"').replace(f"{OLDER}\n", "")
    text = re.sub(r'\[\[rounds\]\]\nid = "(\w+)"', r'[[rounds]]\nid = "other-\1"', text)
    (tea / "other.toml").write_text(text)
    assert run("screen", "design", "other.toml").exit_code == 0
    (tea / "strata.csv").write_text("work,stratum\nable-2020-trial,older\n")
    result = run("screen", "sample", "other", "half", "--strata", "strata.csv")
    assert refusal(result) == "sample half: the table of strata doesn't name work 'baker-2020-survey'"


def test_a_file_of_votes_that_is_cut_off_counts_its_rows_and_is_not_well(
    run: Any, tea: Path, slugs: dict[str, str]
) -> None:
    rows = [{"work": slug, "rater": "ada", "decision": "out_of_scope"} for slug in slugs.values()]
    (tea / "cut.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n")
    result = run("screen", "import-votes", "cut.json", "--round", "all")
    assert result.stdout.startswith("all: 10 rows read: 10 taken, 0 unchanged, 0 in quarantine.")
    assert "cut.json: votes may be missing here: the text ends before the ']' that closes it" in result.stdout
    assert result.exit_code == 1
