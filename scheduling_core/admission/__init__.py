"""Admission of agent attempts: replay, accounts, schedule search, bounds and an independent validator.

What may live here: attempts as integers, schedules as start vectors, and what is computed from both.
What may not: scores of unknown outcomes as numbers, model calls, or an import from a sibling package.
"""
