"""How commands write a trace."""

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.commands.files import replacing_bytes

if TYPE_CHECKING:
    from scheduling_core.queueing.jobs import Trace


def write_to(trace: "Trace", to: Path) -> None:
    """In the compact form, packed where the name ends in .gz; the same trace gives the same bytes."""
    from scheduling_core.queueing.formats import write_trace

    content = write_trace(trace).encode("utf-8")
    with replacing_bytes(to) as stream:
        stream.write(gzip.compress(content, mtime=0) if to.suffix == ".gz" else content)
