"""A screening replayed on known labels: the figures follow from the order that is told, and nothing else."""

import gzip
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from catalog.commands.screen.simulate import CONTROL, LEARNING
from classifiers.active.simulate import Strategy

TOPICS = (
    "tea sleep trial", "coffee market survey", "tea trial adults", "garden history", "tea placebo trial",
    "leaf chemistry", "trade archive", "tea trial random", "soil survey", "porcelain history",
)  # fmt: skip
RELEVANT = {0, 2, 4, 7}


def table(unknown: tuple[int, ...] = ()) -> str:
    rows = ["record_id,title,abstract,label_included"]
    for n, title in enumerate(TOPICS * 3):
        label = "" if n in unknown else int(n % 10 in RELEVANT)
        rows.append(f"{n},{title} {n},About {title} number {n},{label}")
    return "\n".join(rows) + "\n"


def simulated(run: Any, *line: str) -> dict[str, Any]:
    result = run("screen", "simulate", *line, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_the_strategies_are_those_that_there_are() -> None:
    assert {*LEARNING, CONTROL} == {strategy.value for strategy in Strategy}


def test_figures_follow_from_the_order(run: Any, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(table())
    facts = simulated(run, "l.csv", "--seeds", "3")
    assert (facts["records"], facts["relevant"], facts["unknown"]) == (30, 12, 0)
    assert [arm["strategy"] for arm in facts["arms"]] == ["certainty", "random"]
    for arm in facts["arms"]:
        assert [s["seed"] for s in arm["simulations"]] == [0, 1, 2]
        atds = []
        for simulation in arm["simulations"]:
            # Worked from the order: priors (one of each kind) are no part of it, and it ends with the last
            # of the 11 relevant records that are left among 28.
            ids = [step["id"] for step in simulation["order"]]
            assert len(set(ids)) == len(ids)
            assert not set(ids) & set(simulation["priors"])
            found = [at for at, step in enumerate(simulation["order"], start=1) if step["relevant"]]
            assert len(found) == 11
            assert found[-1] == len(ids)
            atds.append(sum(found) / 11)
            assert simulation["summary"]["atd"] == pytest.approx(atds[-1])
            # Work saved at full recall: what is left unread, less what random order would leave (nothing
            # but its own rounding: it finds the last where 11 x i / 27 rounds to 11, at i = 26, the 27th).
            assert simulation["summary"]["wss_at_100"] == pytest.approx((27 - found[-1]) / 28)
        assert arm["means"]["atd"] == pytest.approx(sum(atds) / 3)


def test_nothing_to_find_is_said_and_is_no_last_record(run: Any, tmp_path: Path) -> None:
    """The one relevant record is known beforehand: `after 0 of 28 records` would say that it was found."""
    rows = ["record_id,title,abstract,label_included"]
    rows += [f"{n},{title} {n},,{int(n == 0)}" for n, title in enumerate(TOPICS * 3)]
    (tmp_path / "one.csv").write_text("\n".join(rows) + "\n")
    text = run("screen", "simulate", "one.csv").stdout
    assert "The only relevant record is the one known beforehand, so nothing was left to find." in text
    assert "came after" not in text


def test_learning_beats_chance_where_words_tell(run: Any, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(table())
    learnt, control = simulated(run, "l.csv", "--seeds", "3")["arms"]
    assert learnt["means"]["atd"] < control["means"]["atd"]


def test_both_arms_begin_alike_and_the_same_seed_gives_the_same(run: Any, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(table())
    one, two = (simulated(run, "l.csv", "--batch", "4", "--seed", "7") for _ in range(2))
    assert one == two
    learnt, control = one["arms"]
    assert learnt["simulations"][0]["priors"] == control["simulations"][0]["priors"]


def test_unknown_labels_are_left_out_and_never_irrelevant(run: Any, tmp_path: Path) -> None:
    (tmp_path / "l.csv.gz").write_bytes(gzip.compress(table(unknown=(1, 2)).encode()))
    facts = simulated(run, "l.csv.gz")
    assert (facts["records"], facts["relevant"], facts["unknown"]) == (28, 11, 2)
    said = {step["id"] for arm in facts["arms"] for step in arm["simulations"][0]["order"]}
    assert not {"1", "2"} & said


def test_a_record_without_a_title_is_read_and_what_is_left_out_has_its_cause(
    run: Any, tmp_path: Path
) -> None:
    rows = [
        "record_id,title,abstract,label_included",
        "1,Tea trial,About tea,1",
        "2,,Tea against placebo,1",  # no title, but text
        "3,,,1",  # nothing to read
        "4,Soil survey,,0",
        "5,,Porcelain and its trade,0",
        "6,,About unknown things,",
        "7,Garden history,,2",  # no label that there is
        "4,Soil survey,,0",
        "8,Leaf chemistry,,0",
    ]
    (tmp_path / "five.csv").write_text("\n".join(rows) + "\n")
    facts = simulated(run, "five.csv")
    assert (facts["records"], facts["relevant"]) == (5, 2)
    counts = {name: facts[name] for name in ("unknown", "without_text", "rejected", "repeated")}
    assert counts == {"unknown": 1, "without_text": 1, "rejected": 1, "repeated": 1}
    assert facts["records"] + sum(counts.values()) == len(rows) - 1  # every row is accounted for
    arms = facts["arms"]
    read = {*arms[1]["simulations"][0]["priors"], *(s["id"] for s in arms[1]["simulations"][0]["order"])}
    assert read <= {"1", "2", "4", "5", "8"}
    assert {"1", "2"} <= read  # every relevant record is found in the end
    text = " ".join(run("screen", "simulate", "five.csv").stdout.split())
    assert (
        "5 records, 2 relevant; left out: 1 with an unknown label, 1 without title and abstract, "
        "1 rejected, 1 repeated. five.csv line 8: label_included is '2'"
    ) in text


def test_labels_of_a_round_say_whose_they_are(run: Any, tea: Path) -> None:
    rows = json.loads(run("list", "works", "--json").stdout)["rows"]
    lines = ["work,decision,categories"]
    for row in rows:
        slug = row["slug"]
        if slug.startswith("jig"):
            lines.append(f"{slug},unsure,")
        else:
            lines.append(f"{slug},in_scope,trial" if "trial" in slug else f"{slug},out_of_scope,")
    (tea / "v.csv").write_text("\n".join(lines) + "\n")
    assert run("screen", "import-votes", "v.csv", "--round", "all", "--rater", "ada").exit_code == 0
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    ada = simulated(run, "all", "--rater", "ada")
    # Five trials, four surveys, and one that Ada couldn't decide.
    assert (ada["records"], ada["relevant"], ada["unknown"]) == (9, 5, 1)
    assert (ada["labels_by"], ada["statuses"]) == ("ada", ["human_direct"])
    rule = run("screen", "simulate", "all", "--rater", "rule", "--category", "trial")
    assert "Labels by rule (machine_direct_unvalidated)" in rule.stdout
    # Ben hasn't voted, so the panel as a whole has no label for any work.
    result = run("screen", "simulate", "all")
    assert result.exit_code == 1
    assert result.stderr == (
        "proofshelf: round all: no work has a label by majority of ada, ben, rule; a panel gives one where "
        "all of it has voted\n"
    )


def test_curve_is_written_in_each_form(run: Any, tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(table())
    for name in ("r.svg", "r.png", "r.vl.json", "r.json"):
        assert run("screen", "simulate", "l.csv", "--batch", "5", "--to", name).exit_code == 0
    assert ElementTree.parse(tmp_path / "r.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "r.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    values = json.loads((tmp_path / "r.vl.json").read_text())["data"]["values"]
    assert {v["order"] for v in values} == {"certainty", "random"}
    assert {v["recall"] for v in values if v["records read"] == 0} == {0}
    assert max(v["recall"] for v in values) == 1
    whole = json.loads((tmp_path / "r.json").read_text())
    assert {**whole, "path": None} == simulated(run, "l.csv", "--batch", "5")


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (table(), "nowhere.csv", "nowhere.csv is not there"),
        (table(), "l.csv --to r.pdf", "r.pdf: expected a name that ends in .svg, .png, .vl.json or .json"),
        (table().replace(",1\n", ",0\n"), "l.csv",
         "0 of 30 records are relevant; a simulation needs both kinds"),
        ("a,b\n1,2\n", "l.csv", "l.csv: "),
        ("record_id,title,abstract\n1,T,A\n", "l.csv", "l.csv: "),
        (table().replace("label_included", "mood"), "l.csv --column label", "l.csv: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(
    run: Any, tmp_path: Path, text: str, line: str, sentence: str
) -> None:
    (tmp_path / "l.csv").write_text(text)
    run("init")
    result = run("screen", "simulate", *line.split())
    assert result.exit_code == 1, result.output
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"proofshelf: {sentence}")
    assert "unexpected" not in result.stderr
