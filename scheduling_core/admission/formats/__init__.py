"""Readers of logged attempts, one module for each format, found by content.

What may live here: formats in and out, and what their logs say of how an attempt ended.
What may not: a guess at what a log doesn't say, a missing score or time as a number, or a schedule.
"""

from scheduling_core.admission.formats.compact import write_workload
from scheduling_core.admission.formats.documents import Rejected, Source
from scheduling_core.admission.formats.reading import read_workload
from scheduling_core.admission.formats.records import Assumptions, Import, Unreplayable

__all__ = ["Assumptions", "Import", "Rejected", "Source", "Unreplayable", "read_workload", "write_workload"]
