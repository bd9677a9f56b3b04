"""Inner loops of replay, evaluation and search, each in a plain and a compiled form of one source.

What may live here: functions on flat whole numbers, decorated by `scheduling_core.compiled.kernel`.
What may not: records, files, randomness without a seed in its arguments, or an import between kernels.
"""
