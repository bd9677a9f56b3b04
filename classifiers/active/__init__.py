"""Active learning: which records to read next, how well an order finds the relevant ones, when to stop.

Nothing here asserts a label: a score only ranks, and a recall is an estimate with its interval.
"""
