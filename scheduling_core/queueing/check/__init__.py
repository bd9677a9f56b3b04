"""A second account of a simulation, from its log of decisions alone; it shares no code with the simulator.

What may live here: reading a log, replaying it on plain rows of jobs and nodes, every figure derived anew.
What may not: an import of the simulator, of numpy or of anything but the standard library and the errors.
"""

from scheduling_core.queueing.check.checker import check
from scheduling_core.queueing.check.findings import Finding, Kind
from scheduling_core.queueing.check.report import Figures, JobTimes, Report

__all__ = ["Figures", "Finding", "JobTimes", "Kind", "Report", "check"]
