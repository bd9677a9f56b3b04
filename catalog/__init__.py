"""The shell: the only package that opens the database, with its commands and its web pages.

Store and queries speak `schema` records; commands and pages hold no SQL and decide no state.
No parsing of files, no statistics and no numerics live here: they come from the packages below.
"""
