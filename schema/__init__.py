"""Records, vocabularies and states: what a work, a vote, a claim or a verification *is*.

Pure pydantic models and pure functions; every state that anyone shows is decided in `states`.
No I/O lives here, and nothing of ours is imported from here upward.
"""
