"""Shortest or smallest first, preemptive."""

from __future__ import annotations

from scheduling_core.queueing.policies.base import KeyPolicy
from scheduling_core.queueing.views import Numbers, OracleView, View


class SmallestGang(KeyPolicy):
    """Fewest GPUs first."""

    name = "sjf"
    source = "Tiresias' public simulator (SymbioticLab/Tiresias), schedule sjf"

    def key(self, view: View) -> Numbers:
        """GPUs."""
        return view.gpus


class ShortestRemainingTime(KeyPolicy):
    """Least time still to run first."""

    name = "srtf"
    source = "Tiresias' public simulator, schedule shortest; Schrage, Operations Research 16 (1968)"
    oracle = True

    def key(self, view: OracleView) -> Numbers:  # type: ignore[override]
        """Ticks of work that are left."""
        return view.remaining


class ShortestRemainingService(KeyPolicy):
    """Least GPU time still to run first."""

    name = "srsf"
    source = "Tiresias' public simulator, schedule shortest-gpu; Gu et al., NSDI 2019, section 3"
    oracle = True

    def key(self, view: OracleView) -> Numbers:  # type: ignore[override]
        """GPU ticks of work that are left."""
        return view.gpus * view.remaining
