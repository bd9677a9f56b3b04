"""Records to scores: the student model, its calibration, agreement and sampling statistics.

Pure functions over arrays and `schema` records. No database, no files of a catalog, no web page
lives here.
"""
