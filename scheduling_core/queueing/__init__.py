"""Queue-based scheduling of gang jobs on a GPU cluster: traces, policies, an exact simulator, its accounts.

What may live here: jobs in whole ticks, policies that see a view, simulators, metrics and their checker.
What may not: a figure of a paper that isn't public as ours, floating-point event times, the command line.
"""
