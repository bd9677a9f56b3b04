"""Experiments on a workload: each a function from a workload and parameters to a table, charts and schedules.

What may live here: baselines, predictions, costs of suspension, service models, and what comes of them.
What may not: files, commands, or figures of a schedule that `metrics` doesn't give.
"""
