"""Stratified samples that anyone can draw again: rules, frame, draw, chunks."""

from classifiers.sampling.chunks import chunk_manifests, cut
from classifiers.sampling.draw import DrawnRecord, DrawnStratum, Sample, check_extension, draw
from classifiers.sampling.frame import Frame, frame_by_rules, frame_by_table
from classifiers.sampling.order import hash_order, presentation_order
from classifiers.sampling.rules import Rule, is_missing, parse_rule

__all__ = [
    "DrawnRecord",
    "DrawnStratum",
    "Frame",
    "Rule",
    "Sample",
    "check_extension",
    "chunk_manifests",
    "cut",
    "draw",
    "frame_by_rules",
    "frame_by_table",
    "hash_order",
    "is_missing",
    "parse_rule",
    "presentation_order",
]
