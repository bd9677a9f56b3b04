"""Readers of public RCPSP instances: PSPLIB's `.sm` (single mode) and MiniZinc's `.dzn`.

Formats: Kolisch and Sprecher (1996), European Journal of Operational Research 96, and the model `rcpsp.mzn`
of the MiniZinc benchmarks. The same instance in either gives the same project: PSPLIB's supersource and sink,
which do nothing, are left out.
"""

from __future__ import annotations

from pathlib import Path

from scheduling_core.errors import SchedulingError
from scheduling_core.rcpsp.dzn import parse_dzn
from scheduling_core.rcpsp.project import Project
from scheduling_core.rcpsp.sm import parse_sm

PARSERS = {".sm": parse_sm, ".dzn": parse_dzn}


def read_project(path: Path) -> Project:
    """The project of a file, by its ending.

    Raises
    ------
    SchedulingError : with the file, and its line where one is at fault.
    """
    parse = PARSERS.get(path.suffix.lower())
    if parse is None:
        raise SchedulingError(f"{path.name} ends in {path.suffix!r}, expected .sm or .dzn.")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SchedulingError(f"{path.name} can't be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise SchedulingError(f"{path.name} isn't text in UTF-8.") from error
    return parse(text, path.name)
