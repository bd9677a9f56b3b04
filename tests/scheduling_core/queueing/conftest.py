"""The tests are no package (--import-mode=importlib), so what they share is loaded by its path."""

import importlib.util
import sys
from pathlib import Path


def _load(name: str) -> None:
    spec = importlib.util.spec_from_file_location(f"queueing_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[f"queueing_{name}"] = module
    spec.loader.exec_module(module)


_load("strategies")
_load("information")
