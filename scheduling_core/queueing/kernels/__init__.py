"""Kernels of the queueing simulators on flat whole numbers; see `scheduling_core.compiled`.

What may live here: loops over jobs that run compiled or as plain Python with the same numbers.
What may not: traces, anything that isn't a number, or an import between kernels.
"""
