"""Releases: a trained student in a folder, hashed, safe to load from anyone, and the same bytes each time."""

from classifiers.release.content import FORMAT, Content, Maturity, StoredHead
from classifiers.release.store import Release, code_sha256, load, save

__all__ = ["FORMAT", "Content", "Maturity", "Release", "StoredHead", "code_sha256", "load", "save"]
