"""`schedule traces`: generated traces say that they are, and what a file holds is told exactly."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from catalog.commands.group import cli
from scheduling_core.queueing.formats import read_trace
from scheduling_core.queueing.synthetic import BURSTY, BoundedPareto, generate

# Half an hour from the first submission to the last; 2 x 3600 + 4 x 900 GPU seconds are 3 GPU hours.
TWO = """\
job_id,num_gpu,submit_time,iterations,model_name,duration,interval
a,2,0,1,vgg16,3600,0
b,4,1800,1,vgg16,900,1800
"""


def traces(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["schedule", "traces", *map(str, arguments)])


def told(*arguments: str | Path) -> Any:
    result = traces(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(result: Result, code: int = 1) -> str:
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    assert "unexpected" not in sentence
    return sentence.removeprefix("proofshelf: ")


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.csv").write_text(TWO, encoding="utf-8")
    return tmp_path


class TestGenerate:
    def test_it_is_what_the_library_generates(self, work: Path) -> None:
        options = ("--arrivals", "bursty", "--durations", "pareto", "--gang", "2=1", "--gang", "4=0.5")
        made = told("generate", "--jobs", "50", "--gpus", "8", "--load", "0.8", "--seed", "7", *options,
                    "--to", "made.csv")  # fmt: skip
        expected = generate(50, 8, 0.8, 7, arrivals=BURSTY, durations=BoundedPareto(), gangs={2: 1.0, 4: 0.5})
        assert made["trace"]["sha256"] == expected.sha256 == read_trace(work / "made.csv").trace.sha256
        assert made["trace"]["synthetic"] is True
        assert made["sha256"] == sha256(work / "made.csv")

    def test_the_same_call_gives_the_same_bytes_and_another_seed_others(self, work: Path) -> None:
        made = [
            told("generate", "--jobs", "20", "--seed", seed, "--to", f"{n}.csv.gz")["sha256"]
            for n, seed in enumerate(("1", "1", "2"))
        ]
        assert made[0] == made[1] != made[2]
        assert gzip.decompress((work / "0.csv.gz").read_bytes()).startswith(b"# queueing trace 1 ")

    def test_a_file_that_is_there_stays(self, work: Path) -> None:
        before = sha256(work / "two.csv")
        sentence = refused(traces("generate", "--jobs", "20", "--to", "two.csv"))
        assert sentence == "two.csv is there already; --force replaces it"
        assert sha256(work / "two.csv") == before
        assert traces("generate", "--jobs", "20", "--to", "two.csv", "--force").exit_code == 0
        assert sha256(work / "two.csv") != before

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (("--gang", "8"), "--gang 8: expected a number of GPUs, each once, then = and a weight"),
            (("--gang", "8=-1"), "--gang 8=-1"),
            (("--gang", "8=nan"), "--gang 8=nan"),
            (("--gang", "8=1", "--gang", "8=2"), "each once"),
            (("--gang", "8=0"), "expected a weight above 0"),
            (("--gang", "128=1"), "larger than the cluster of 64 GPUs"),
            (("--load", "nan"), "The load is nan, expected more than 0"),
        ],
    )
    def test_what_cannot_be_generated_is_one_sentence(
        self, work: Path, options: tuple[str, ...], says: str
    ) -> None:
        assert says in refused(traces("generate", "--jobs", "20", *options, "--to", "made.csv"))
        assert not (work / "made.csv").exists()

    def test_a_folder_that_is_not_there_is_one_sentence(self) -> None:
        assert "is not there" in refused(traces("generate", "--jobs", "20", "--to", "nowhere/made.csv"))


class TestRead:
    def test_by_hand(self) -> None:
        found = told("read", "two.csv", "--gpus", "8")
        trace = found["trace"]
        assert found["format"] == "tiresias"
        assert (trace["jobs"], trace["gang_min"], trace["gang_max"]) == (2, 2, 4)
        assert trace["gpu_hours"] == 3
        assert trace["span_hours"] == 0.5
        assert trace["gpus_asked_mean"] == 6
        assert found["load"] == {"gpus": 8, "offered_load": 0.75}
        assert (trace["duration_median_s"], trace["duration_max_s"]) == (2250, 3600)
        assert trace["synthetic"] is False

    def test_what_is_shown_is_in_the_json(self) -> None:
        header, a, b = TWO.splitlines()
        Path("two.csv").write_text("\n".join([header, b, a]) + "\n")
        shown = traces("read", "two.csv", "--gpus", "8").stdout
        for text in (
            "Tiresias",
            "2 to 4",
            "median 2,250.0 s, longest 3,600.0 s",
            "3.0 GPU-h",
            "0.5 h",
            "0.750",
        ):
            assert text in shown
        (note,) = told("read", "two.csv")["notes"]
        assert note == "1 of 2 jobs stood behind later ones; sorted by submission."
        assert note in shown

    def test_where_all_come_at_once_no_load_is_told(self) -> None:
        Path("once.csv").write_text(TWO.replace("b,4,1800", "b,4,0"))
        found = told("read", "once.csv", "--gpus", "8")
        assert found["load"] == {"gpus": 8, "offered_load": None}
        assert "unknown: all jobs are submitted at once" in traces("read", "once.csv").stdout

    def test_the_compact_form_keeps_every_job(self, work: Path) -> None:
        found = told("read", "two.csv", "--to", "compact.csv.gz")
        assert found["wrote"] == {"path": "compact.csv.gz", "sha256": sha256(work / "compact.csv.gz")}
        again = told("read", "compact.csv.gz")
        assert again["format"] == "compact"
        assert again["trace"] == found["trace"]
        assert refused(traces("read", "two.csv", "--to", "two.csv")).endswith("--force replaces it")

    def test_bad_records_end_it_or_are_set_aside(self, work: Path) -> None:
        rows = "".join(f"x{n},0,5,1,m,9,1\n" for n in range(7))
        (work / "bad.csv").write_text(TWO + rows)
        assert refused(traces("read", "bad.csv")).startswith("bad.csv line 4: num_gpu")
        result = traces("read", "bad.csv", "--skip-bad")
        assert result.exit_code == 0
        assert "7 records" in result.stdout
        assert [line.split(":")[0] for line in result.stderr.splitlines()] == [
            *(f"bad.csv line {n}" for n in range(4, 9)), "and 2 more"
        ]  # fmt: skip
        assert len(told("read", "bad.csv", "--skip-bad")["rejected"]) == 7

    def test_a_gavel_trace_needs_its_rates(self, work: Path) -> None:
        fields = ("ResNet-18 (batch size 16)", "python3", "cv", "-", "1", "100", "2", "1.0", "-1.0", "7.5")
        (work / "gavel.trace").write_text("\t".join(fields) + "\n")
        assert "expected a file of rates with it" in refused(traces("read", "gavel.trace"))
        rates = {"v100": {"('ResNet-18 (batch size 16)', 2)": {"null": 4.0}}}
        (work / "rates.json").write_text(json.dumps(rates))
        found = told("read", "gavel.trace", "--throughputs", "rates.json")
        assert found["trace"]["duration_max_s"] == 25  # 100 steps at 4 a second

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"", "other.csv: the file is empty, expected a trace."),
            (b"a text\n", "begins no trace that is known"),
            (b"\xff\xfe\x00\n", "other.csv line 1: this isn't UTF-8"),
            (TWO.splitlines()[0].encode(), "other.csv: there are 0 jobs"),
        ],
    )
    def test_what_is_no_trace_is_one_sentence(self, work: Path, content: bytes, says: str) -> None:
        (work / "other.csv").write_bytes(content)
        assert says in refused(traces("read", "other.csv"))
        assert says in refused(traces("read", "other.csv", "--skip-bad"))
