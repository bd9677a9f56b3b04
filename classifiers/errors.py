"""The one error of this package."""


class ClassifierError(ValueError):
    """Input that can't be used; the message is one sentence that says what is wrong and what was expected."""
