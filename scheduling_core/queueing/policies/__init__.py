"""Policies, one small class each with its source, found by name; others add theirs by entry point.

What may live here: who is served first, from a view without durations unless declared `oracle`.
What may not: placement, event times, metrics, or a formula that its source doesn't give.
"""

from scheduling_core.queueing.policies.base import Policy
from scheduling_core.queueing.policies.registry import policy, policy_class, policy_names

__all__ = ["Policy", "policy", "policy_class", "policy_names"]
