"""Readers of bibliographic files, one module for each format, found by content.

Others add theirs by the entry point group `proofshelf.readers`: an `ingest.readers.base.Reader`.
A reader takes text, whole or as a stream, and yields works or `Rejected`; it opens no file, raises nothing
and compares nothing. Files are opened, hashed and unpacked by `ingest.sources`.
"""

from ingest.readers.base import Parsed, Reader, Reading
from ingest.readers.registry import read, readers

__all__ = ["Parsed", "Reader", "Reading", "read", "readers"]
