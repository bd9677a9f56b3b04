"""Resource-constrained project scheduling (RCPSP), single mode: the search of the core on public instances.

What may live here: readers, projects as whole numbers, generation of schedules, bounds, search, validator.
What may not: attempts of agents and their reservations (`admission`), or an import from a sibling package.
"""
