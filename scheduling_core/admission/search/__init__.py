"""Search for starts: one resource at a time or several at once, never later than the deadline.

What may live here: problems on a grid, chains of moves, checkpoints, packing, fronts of whole schedules.
What may not: accounts that anybody is shown; those come from `metrics` and `validate`.
"""

from scheduling_core.admission.search.engine import SearchResult, search
from scheduling_core.admission.search.problem import Goal, Measure, Resource

__all__ = ["Goal", "Measure", "Resource", "SearchResult", "search"]
