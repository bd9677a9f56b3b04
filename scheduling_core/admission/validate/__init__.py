"""A second account of schedules, which shares no code with the first: it knows plain rows and the limits.

Attempts come as rows of the compact form, a schedule as its row. Every figure is derived anew and in
another way: `metrics` sweeps over events, this counts what has begun and what has ended at every
breakpoint; areas are sums over the time between breakpoints, not over attempts; the store is stepped from
tick to tick. Numbers are whole, and compared exactly.

What the two share: numpy, the words of the formats, and the reading of the model by the same people.
"""

from scheduling_core.admission.validate.findings import Kind, Validation, Violation
from scheduling_core.admission.validate.originals import validate_attempts
from scheduling_core.admission.validate.schedules import validate

__all__ = ["Kind", "Validation", "Violation", "validate", "validate_attempts"]
