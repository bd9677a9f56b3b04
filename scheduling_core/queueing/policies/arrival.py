"""First come, first served; both never take a GPU back."""

from __future__ import annotations

from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.views import Numbers, View


class Fifo(Policy):
    """In the order of submission; the first gang that doesn't fit holds up all behind it."""

    name = "fifo"
    source = "first in, first out; Tiresias' public simulator (SymbioticLab/Tiresias), schedule fifo"
    preemptive = False
    blocking = True

    def order(self, view: View) -> Numbers:
        """As submitted."""
        return view.jobs


class FirstFit(Policy):
    """In the order of submission, skipping what doesn't fit."""

    name = "fjf"
    source = "fit job first; Tiresias' public simulator (SymbioticLab/Tiresias), schedule fjf"
    preemptive = False

    def order(self, view: View) -> Numbers:
        """As submitted."""
        return view.jobs
