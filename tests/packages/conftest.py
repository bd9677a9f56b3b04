"""The bundled packages as committed, and a copy to damage."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from artifacts.packages import bundled


@pytest.fixture(scope="session")
def gavel() -> Path:
    return bundled()["gavel-allocation"]


@pytest.fixture(scope="session")
def tias() -> Path:
    return bundled()["tias-record"]


@pytest.fixture(scope="session")
def manifest(gavel: Path) -> dict[str, Any]:
    return json.loads((gavel / "manifest.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def claims(manifest: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {claim["id"]: claim for claim in manifest["claims"]}


@pytest.fixture
def copy(gavel: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(gavel, tmp_path / "gavel-allocation"))
