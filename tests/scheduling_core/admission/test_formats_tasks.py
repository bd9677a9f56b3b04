"""Quotas from task.toml files: newer and older fields, names, clashes, and what is refused."""

import json
from pathlib import Path

import pytest

from scheduling_core.admission.attempts import KIB_PER_GIB
from scheduling_core.admission.formats import Assumptions, read_workload
from scheduling_core.admission.formats.tasks import task_of
from scheduling_core.errors import SchedulingError

TRIALS = Path(__file__).parent / "trials" / "trials.jsonl"
NEWER = """
[agent]
timeout_sec = 900.0
[verifier]
timeout_sec = 600
[environment]
docker_image = "registry.example/alpha:1"
cpus = 2
memory_mb = 8192
storage_mb = 20480
"""
OLDER = '[environment]\ncpus = 1\nmemory = "2G"\nstorage = "10G"\n'
IMAGES = Assumptions(cpu_milli=None, ram_kib=None, disk_kib=None)


def test_a_newer_file_gives_quotas_image_and_limits() -> None:
    """2 cores, 8 GiB, 20 GiB, as all DeepSWE tasks have them."""
    task = task_of(NEWER.encode(), "tasks/alpha/task.toml")
    expected = (2000, 8 * KIB_PER_GIB, 20 * KIB_PER_GIB, None)
    quotas = task.quotas
    assert (quotas.cpu_milli, quotas.ram_kib, quotas.disk_kib, quotas.image_kib) == expected
    assert (task.names, task.image) == (("alpha",), "registry.example/alpha:1")
    assert (task.agent_limit, task.verifier_limit) == (900_000_000, 600_000_000)
    assert not task.own_verifier


def test_an_older_file_gives_sizes_with_units() -> None:
    task = task_of(OLDER.encode(), "alpha/task.toml")
    assert (task.quotas.ram_kib, task.quotas.disk_kib) == (2 * KIB_PER_GIB, 10 * KIB_PER_GIB)


@pytest.mark.parametrize(
    ("size", "kib"), [("512M", 1 << 19), ("1.5G", 3 << 19), ("2GiB", 2 << 20), ("64kb", 64), ("1 T", 1 << 30)]
)
def test_sizes_count_in_1024(size: str, kib: int) -> None:
    assert task_of(f'[environment]\nmemory = "{size}"'.encode(), "a/task.toml").quotas.ram_kib == kib


def test_a_named_task_is_found_by_its_name_and_its_last_part() -> None:
    task = task_of(b'[task]\nname = "bench/alpha"\n', "x/y/task.toml")
    assert task.names == ("y", "bench/alpha", "alpha")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[environment", "this is no TOML"),
        ("environment = 3", "environment: this is 3, expected an object"),
        ("[environment]\ncpus = true", "cpus is True, expected a number"),
        ("[environment]\ncpus = 0", "cpus is 0, expected more than 0"),
        ("[environment]\ncpus = nan", "cpus is nan, expected a number"),
        ("[environment]\nmemory_mb = -1", "memory_mb is -1, expected a number"),
        ('[environment]\nmemory = "2"', "memory is '2', expected a size such as \"2G\""),
        ("[environment]\nmemory = 2", 'memory is 2, expected a size such as "2G"'),
        ("[agent]\ntimeout_sec = inf", "timeout_sec is inf, expected seconds"),
    ],
)
def test_a_bad_file_is_refused(text: str, says: str) -> None:
    with pytest.raises(SchedulingError) as caught:
        task_of(text.encode(), "alpha/task.toml")
    assert str(caught.value).startswith("alpha/task.toml: ")
    assert says in str(caught.value)


def test_quotas_come_from_a_named_folder_and_a_runs_override_goes_first(tmp_path: Path) -> None:
    for task in ("alpha", "delta"):
        (tmp_path / task).mkdir()
        (tmp_path / task / "task.toml").write_text(NEWER)
    found = {a.id: a for a in read_workload(TRIALS, IMAGES, tasks=tmp_path).workload.attempts}
    alpha, override = found["alpha__solved"], found["delta__override"]
    assert (alpha.cpu_milli, alpha.image, alpha.assumed) == (2000, "registry.example/alpha:1", ("image_kib",))
    assert (override.cpu_milli, override.ram_kib) == (4000, 3 * KIB_PER_GIB)
    assert "beta__cancelled" not in found


def test_quotas_are_found_beside_the_trials(tmp_path: Path) -> None:
    row = json.loads(TRIALS.read_text().splitlines()[0])
    (tmp_path / "alpha__solved").mkdir()
    (tmp_path / "alpha__solved" / "result.json").write_text(json.dumps(row["result"]))
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "task.toml").write_text(OLDER)
    (attempt,) = read_workload(tmp_path, IMAGES).workload.attempts
    assert (attempt.cpu_milli, attempt.ram_kib) == (1000, 2 * KIB_PER_GIB)


def test_a_name_with_two_meanings_has_none(tmp_path: Path) -> None:
    for place, text in (("a", NEWER), ("b", OLDER)):
        (tmp_path / place / "alpha").mkdir(parents=True)
        (tmp_path / place / "alpha" / "task.toml").write_text(text)
    found = read_workload(TRIALS, IMAGES, tasks=tmp_path)
    assert "alpha__solved" in {aside.id for aside in found.unreplayable}
    assert any("task alpha has other quotas" in rejected.reason for rejected in found.rejected)


def test_a_verifier_with_its_own_container_is_told(tmp_path: Path) -> None:
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "task.toml").write_text(f"{OLDER}[verifier.environment]\ncpus = 1\n")
    assert any("second container" in note for note in read_workload(TRIALS, IMAGES, tmp_path).notes)


def test_a_bad_task_file_is_set_aside_and_its_attempts_have_no_quotas(tmp_path: Path) -> None:
    (tmp_path / "alpha").mkdir()
    (tmp_path / "alpha" / "task.toml").write_bytes(b"\xff")
    found = read_workload(TRIALS, IMAGES, tmp_path)
    assert "this is no TOML" in found.rejected[0].reason
    assert [a.id for a in found.workload.attempts] == ["delta__override"]
