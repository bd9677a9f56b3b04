"""Reproduction packages: open, hash, store, run their analyses, compare, and give a verdict.

Takes and returns `schema` records; never sees the catalog's database, and opens SQLite in memory only.
A package's own code is never run here, and no state is decided here: `schema.states` does that.
"""
