"""What can go wrong with a package. Each message is one sentence for the person who must act on it."""


class ArtifactError(Exception):
    """Base of every error that this package raises on purpose."""


class PackageError(ArtifactError):
    """The package, its archive or its manifest can't be taken as it is."""


class ChangedWhileRead(PackageError):
    """A file changed between the moment it was opened and the moment it was read to its end."""


class StoreError(ArtifactError):
    """The object store can't take or give what was asked."""


class AnalysisError(ArtifactError):
    """An analysis isn't there, or can't be called in the way that was asked."""
