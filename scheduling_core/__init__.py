"""Scheduling policies and simulators as pure numerics: arrays in, arrays with proofs out.

What may live here: policies, simulators, their certificates and analyses of their results.
What may not: papers, databases, networks, the command line, or an import from a sibling package.
"""
