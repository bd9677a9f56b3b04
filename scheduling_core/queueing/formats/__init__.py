"""Readers of published job traces, one module for each format, recognised by content; and a form of our own.

What may live here: formats in and out, with the unit and meaning of their times. Good rows stay, bad ones are
set aside with a reason. What may not: a time that is rounded without a note, a generated deadline.
"""

from scheduling_core.queueing.formats.compact import write_trace
from scheduling_core.queueing.formats.reading import FORMATS, read_trace
from scheduling_core.queueing.formats.records import Import, Rejected

__all__ = ["FORMATS", "Import", "Rejected", "read_trace", "write_trace"]
