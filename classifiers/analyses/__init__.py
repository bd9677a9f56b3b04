"""Screening statistics as analyses that a package calls: CSV files of counts or votes in, plain JSON out.

    run(inputs: {name: path}, parameters: {name: value}, seed) -> {"outputs", "tables", "charts"}

Only reading, checking and naming lives here; every number is computed by the modules beside.
"""
