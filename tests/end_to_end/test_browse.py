"""`proofshelf browse` serves the catalog read-only, and stops when asked."""

import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest


def test_browse_serves_until_stopped(proofshelf: Any, shelf: Path) -> None:
    process = proofshelf.start("browse --port 0 --no-open")
    assert process.stdout is not None
    line = process.stdout.readline()
    assert "read-only" in line
    url = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
    with urllib.request.urlopen(f"{url}proofshelf/works.json?_shape=array", timeout=30) as answer:
        assert [row["slug"] for row in json.load(answer)] == ["heat"]
    # Nothing can be written through it: there is no such page, or it is refused.
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"{url}proofshelf?sql=delete+from+works", timeout=30)
    # Runs recorded meanwhile are seen: the file isn't taken for immutable.
    proofshelf("verify heat-numbers --quiet")
    with urllib.request.urlopen(f"{url}proofshelf/verifications.json?_shape=array", timeout=30) as answer:
        assert [row["outcome"] for row in json.load(answer)] == ["verified"]
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out == "Stopped.\n"
    assert err == ""


def test_port_in_use(proofshelf: Any, shelf: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = proofshelf(f"browse --no-open --port {port}", code=1)
    assert done.stderr.startswith(
        f"proofshelf: can't listen on 127.0.0.1 port {port}: address already in use"
    )
    assert len(done.stderr.splitlines()) == 1
