"""The one error of this package."""


class IngestError(Exception):
    """A file that can't be read at all; the message is one sentence that says what to do."""
