"""`proofshelf schedule queue`: one trace on one cluster under several policies.

What may live here: what is asked for on the command line, and how outcomes are told and written.
What may not: a figure that `scheduling_core.queueing` doesn't give, or one that the checker hasn't seen.
"""
