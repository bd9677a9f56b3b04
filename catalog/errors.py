"""The one error of this package: what is wrong and what to do, in a sentence for a person."""


class CatalogError(Exception):
    """Something the user can act on. The message is shown as it is, without a traceback."""
