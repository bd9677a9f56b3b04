"""Training a student of a study: its labels, its gate, its package, its scores and its calls.

What `proofshelf classify` does, between the catalog's rows and the pure functions of `classifiers`.
No SQL and no printing lives here.
"""
