"""Study files: what a person writes is read as it stands, or refused with where and what in one sentence."""

import hashlib
import json
import re
import tomllib
from pathlib import Path

import pytest

from catalog.commands.screen.examples import EXAMPLE, simple
from catalog.errors import CatalogError
from catalog.study_files import key_lines, read_strata, read_study


def refusal(path: Path) -> str:
    with pytest.raises(CatalogError) as caught:
        read_study(path)
    text = str(caught.value)
    assert "\n" not in text
    assert not text.endswith(".")
    return text


def write(folder: Path, text: str, name: str = "study.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def line_with(text: str, needle: str) -> int:
    """The line of the only place where the needle stands, counted apart from the code under test."""
    assert text.count(needle) == 1
    return text[: text.index(needle)].count("\n") + 1


def test_example_is_a_study_and_its_hash_is_that_of_the_bytes(tmp_path: Path) -> None:
    path = write(tmp_path, EXAMPLE)
    read = read_study(path)
    assert read.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert read.study.rubric.topics == ("trial", "review")
    assert [r.instrument for r in read.study.rounds] == ["title+abstract"]


def test_toml_json_and_a_rubric_beside_it_are_one_study(tmp_path: Path) -> None:
    # The record's hash covers what is said, whatever the form in which it was written.
    value = tomllib.loads(EXAMPLE)
    whole = read_study(write(tmp_path, EXAMPLE)).study.sha256
    assert read_study(write(tmp_path, json.dumps(value), "a.json")).study.sha256 == whole
    write(tmp_path, json.dumps(value["rubric"]), "rubric.json")
    split = write(tmp_path, json.dumps({**value, "rubric": "rubric.json"}), "b.json")
    assert read_study(split).study.sha256 == whole


def test_simple_study_has_one_category_and_takes_any_title(tmp_path: Path) -> None:
    study = read_study(write(tmp_path, simple("menon", 'A "quoted" \\ title\twith 数'))).study
    assert study.title == 'A "quoted" \\ title\twith 数'
    assert study.rubric.topics == ("include",)
    assert study.rounds[0].sample is None


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        ('instrument = "title+abstract"', 'instrument = "abstract"', 'instrument = "abstract"',
         "rounds[0].instrument: 'abstract' isn't allowed; expected 'title', 'title+abstract' or 'full text'"),
        ('kind = "model"', 'kind = "robot"', 'kind = "robot"',
         "raters[2].kind: 'robot' isn't allowed; expected 'human' or 'model'"),
        ("chunk_size = 20", "chunk_sise = 20", "chunk_sise",
         "rounds[0].chunk_sise: no such field; did you mean 'chunk_size'?"),
        ('salt = "pilot-2026" ', 'depth = 1 ', "[[samples]]", "samples[0].depth: no such field"),
        ('id = "trials"', 'id = "Trials!"', 'id = "Trials!"', "rubric.id: 'Trials!' isn't an id"),
        ('required = "optional" ', 'required = "exactly_when" ', "[[rubric.fields]]",
         "rubric.fields[0]: field design: `when` goes with required = 'exactly_when', and only with it"),
        ('salt = "pilot-2026" ', "salt = 2026-01-01 ", "salt = 2026", "samples[0].salt: is a date or a time"),
        ('at_least = 2015', 'above = 2015', "above = 2015",
         "sample 'pilot-sample', stratum 'recent': beside `field` there is 'above'; expected one of equals"),
        ("draw = 40", "draw = nan", "draw = nan", "samples[0].strata[0].draw: nan is no finite number"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, old: str, new: str, at: str, said: str) -> None:
    text = EXAMPLE.replace(old, new)
    assert text != EXAMPLE
    refused = refusal(write(tmp_path, text))
    where, _, what = refused.partition(": ")
    assert what.startswith(said), refused
    # Where the key itself is written, or the table that should have it.
    expected = line_with(text, at) if "depth" not in said else line_with(text, "depth = 1")
    assert where == f"study.toml line {expected}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id = \n", "study.toml line 1 column 6: not TOML: invalid value"),
        ("id = 1\nid = 2\n", "study.toml line 2 column 7: not TOML: cannot overwrite a value"),
        (
            "[rubric",
            "study.toml: not TOML: expected ']' at the end of a table declaration where the file ends",
        ),
        ("", "study.toml: id: is missing (and 4 more)"),
    ],
)
def test_what_is_no_toml_is_said_with_line_and_column(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(write(tmp_path, text)) == said


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_bytes(b'id = "a"\ntitle = "\xff"\n')
    assert refusal(path) == "study.toml line 2: byte 0xff isn't UTF-8; expected a UTF-8 file"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"id": "a", "id": "b"}', "study.json line 1: the object that begins here has the key 'id' twice"),
        ("[]", "study.json: expected an object with the study's fields"),
        ('{"id": NaN}', "study.json line 1: NaN is not a finite number"),
    ],
)
def test_json_is_read_strictly(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(write(tmp_path, text, "study.json")).startswith(said)


def test_no_file_another_ending_and_a_rubric_that_is_not_there(tmp_path: Path) -> None:
    assert "design --example" in refusal(tmp_path / "none.toml")
    assert (
        refusal(write(tmp_path, "", "study.yaml"))
        == "study.yaml: expected a file that ends in .toml or .json"
    )
    missing = write(tmp_path, 'rubric = "gone.toml"\n')
    assert "gone.toml is not there" in refusal(missing)


def test_faults_of_a_rubric_beside_it_name_no_line_of_the_study(tmp_path: Path) -> None:
    value = tomllib.loads(EXAMPLE)
    value["rubric"]["categories"] = []
    write(tmp_path, json.dumps(value["rubric"]), "rubric.json")
    study = re.sub(r"\[rubric\].*?(?=\[\[raters\]\])", "", EXAMPLE, count=1, flags=re.DOTALL)
    study = re.sub(r"\[\[rubric\..*?(?=\[\[raters\]\])", "", study, flags=re.DOTALL)
    text = refusal(write(tmp_path, 'rubric = "rubric.json"\n' + study))
    assert text.startswith("study.toml: rubric.categories: ")


def test_lines_of_keys_in_nested_tables_and_past_long_texts() -> None:
    # Counted by hand; what looks like a key inside a text of several lines is none.
    text = 'a = """\nb = 1\n"""\n[[t]]\nx = 1\n[[t]]\n[t.u]\n"y z" = 2\n[[t.v]]\nw.k = 3\n'
    lines = key_lines(text)
    assert ("b",) not in lines
    assert {at: lines[at] for at in lines if at[0] == "t"} == {
        ("t", 0): 4, ("t", 0, "x"): 5, ("t", 1): 6, ("t", 1, "u"): 7, ("t", 1, "u", "y z"): 8,
        ("t", 1, "v", 0): 9, ("t", 1, "v", 0, "w", "k"): 10,
    }  # fmt: skip


def test_strata_are_read_with_their_works(tmp_path: Path) -> None:
    path = write(tmp_path, "\ufeffWork;Stratum\na-2010;recent\nb-2001;older\n", "strata.csv")
    assert read_strata(path) == {"a-2010": "recent", "b-2001": "older"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("work,stratum\na,x\na,y\n",
         "strata.csv line 3: 'a' stands in line 2 already; each work is in one stratum"),
        ("work,stratum\na,\n", "strata.csv line 2: `stratum` is empty; expected both in every row"),
        ("work,group\na,x\n", "strata.csv: expected a CSV file with the columns `work` and `stratum`"),
        ("", "strata.csv: expected a CSV file with the columns `work` and `stratum`"),
    ],
)  # fmt: skip
def test_strata_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CatalogError) as caught:
        read_strata(write(tmp_path, text, "strata.csv"))
    assert str(caught.value) == said
