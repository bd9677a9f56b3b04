"""The shape of the database, one module for each change of it, applied in order and never edited.

A file made by a newer proofshelf is refused; an older one is copied before it is upgraded.
Only DDL lives here: what is written into the tables is the business of `catalog.store`.
"""
