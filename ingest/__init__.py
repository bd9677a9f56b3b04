"""Files in, records out: readers of bibliographic formats, identifiers, slugs, certain duplicates.

Takes paths or bytes and returns `schema` records; what it can't take in comes back as `Rejected`.
No database, no network and nothing of ours but `schema` may be imported here.
"""
