"""Harbor's `task.toml`: quotas, image and time limits of a task.

`[environment]` has cpus, memory_mb, storage_mb and docker_image; older files have memory = "2G" and
storage = "10G". `[verifier]` may own a second container, whose quotas aren't part of the attempt's.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from scheduling_core.admission.attempts import KIB_PER_MIB, MILLICORES
from scheduling_core.admission.formats.documents import decoded, read_bytes
from scheduling_core.admission.formats.fields import Fields, phrase, shown, size_of
from scheduling_core.admission.formats.records import Collector, Quotas
from scheduling_core.errors import SchedulingError

FILE = "task.toml"
LARGEST = 1 << 31
"""No quota in cores or MiB passes this."""


@dataclass(frozen=True)
class Task:
    """What a task's file says. Time limits in microseconds; None where it doesn't say."""

    where: str
    names: tuple[str, ...]
    quotas: Quotas
    image: str | None
    agent_limit: int | None
    verifier_limit: int | None
    own_verifier: bool


def task_of(content: bytes, where: str) -> Task:
    """One task.toml, found at `where`, whose folder is its name if the file gives none.

    Raises
    ------
    SchedulingError : for what is no TOML, or a quota that is none.
    """
    try:
        whole = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise SchedulingError(f"{where}: this is no TOML: {phrase(error)}.") from error
    file = Fields(whole, where)
    environment = file.child("environment")
    verifier = file.child("verifier")
    folder = where.split("/")[-2] if "/" in where else ""
    said = file.child("task").optional_text("name")
    names = [name for name in (folder, said, said.rsplit("/", 1)[-1] if said else None) if name]
    return Task(
        where, tuple(dict.fromkeys(names)),
        Quotas(
            cores(environment, "cpus"),
            _memory(environment, "memory_mb", "memory"),
            _memory(environment, "storage_mb", "storage"),
        ),
        environment.optional_text("docker_image"),
        file.child("agent").length("timeout_sec"), verifier.length("timeout_sec"),
        verifier.has("environment") or verifier.value.get("environment_mode") == "separate",
    )  # fmt: skip


class Tasks:
    """The tasks of some folders, by any of their names. A name with two meanings has none."""

    def __init__(self, tasks: Mapping[str, Task]) -> None:
        self.tasks = tasks

    def find(self, name: str) -> Task | None:
        """The task of a trial, by its name or the last part of it."""
        return self.tasks.get(name) or self.tasks.get(name.rsplit("/", 1)[-1])


def read_tasks(folders: list[Path], collected: Collector) -> Tasks:
    """Every task.toml below the folders; bad ones are set aside."""
    found: dict[str, Task] = {}
    clashes: set[str] = set()
    for path, where in _files(folders):
        content = b""
        try:
            content, source = read_bytes(path, where)
            task = task_of(content, where)
        except SchedulingError as error:
            collected.reject(where, str(error), decoded(content))
            continue
        collected.sources.append(source)
        if task.own_verifier:
            collected.notes.append(f"{where}: the verifier owns a second container, which isn't counted.")
        for name in task.names:
            other = found.setdefault(name, task)
            if (other.quotas, other.image) != (task.quotas, task.image):
                clashes.add(name)
                sentence = f"{where}: task {name} has other quotas in {other.where}, so neither is taken."
                collected.reject(where, sentence, decoded(content))
    return Tasks({name: task for name, task in found.items() if name not in clashes})


def cores(fields: Fields, name: str) -> int | None:
    """Cores as millicores, or None where the field is missing or null."""
    found = fields.number(name, LARGEST)
    if found is not None and round(found * MILLICORES) == 0:
        raise SchedulingError(f"{fields.what(name)} is {shown(fields.value[name])}, expected more than 0.")
    return None if found is None else round(found * MILLICORES)


def mebibytes(fields: Fields, name: str) -> int | None:
    """MiB as KiB, or None where the field is missing or null."""
    found = fields.number(name, LARGEST)
    return None if found is None else round(found * KIB_PER_MIB)


def _memory(fields: Fields, name: str, older: str) -> int | None:
    if fields.has(name) or not fields.has(older):
        return mebibytes(fields, name)
    return size_of(fields.value[older], fields.what(older))


def _files(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    seen: set[Path] = set()
    for folder in folders:
        for top, below, files in os.walk(folder):
            below.sort()
            path = Path(top) / FILE
            if FILE in files and path.resolve() not in seen:
                seen.add(path.resolve())
                yield path, f"{folder.name}/{path.relative_to(folder).as_posix()}".lstrip("/")
