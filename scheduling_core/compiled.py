"""One source for two forms of a kernel: compiled by numba where it is installed, plain Python where not.

A kernel is written on flat sequences of whole numbers, indexed by one number, filled in place: a list in the
plain form, an int64 array in the compiled one. Both do the same arithmetic in the same order, so both give
the same numbers. numba comes with the extra `fast`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any, TypeVar, cast

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

numba: Any
try:
    import numba
except ImportError:  # the extra isn't installed
    numba = None

_plain = False


def kernel(function: Function) -> Function:
    """The function in the form that is to be had here."""
    if numba is None or _plain:
        return function
    return cast(Function, numba.njit(cache=True)(function))


def is_compiled(module: ModuleType) -> bool:
    """Whether the kernels of a module are compiled."""
    return numba is not None and not module.__name__.endswith(_SUFFIX)


def numbers(module: ModuleType, values: Sequence[int]) -> Any:
    """A copy of whole numbers in the form that the kernels of `module` take."""
    if is_compiled(module):
        return np.array(values, dtype=np.int64)
    return [int(value) for value in values]


@cache
def plain_form(module: ModuleType) -> ModuleType:
    """The same module with its kernels in plain Python: what runs where numba is missing."""
    global _plain
    name = module.__name__ + _SUFFIX
    spec = importlib.util.spec_from_file_location(name, module.__file__)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    _plain = True
    try:
        spec.loader.exec_module(made)
    finally:
        _plain = False
    return made


_SUFFIX = "__plain"
