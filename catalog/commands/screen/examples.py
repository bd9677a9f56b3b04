"""Study files to begin with: one that shows everything, commented, and one with a single question."""

import json

EXAMPLE = '''\
# A screening study: everything that is decided before the first rater runs.
# Read it with `proofshelf screen design study.toml`. All of it is hashed; a later version may add
# raters, rounds and samples, and never changes what a round was asked.

id = "pilot"
title = "Does the abstract report a randomised trial?"
description = "Shows what a study file can say."
licence = "CC0-1.0"
# synthetic = true            # made up, to try things out: said everywhere
caveats = ["Titles and abstracts only; nobody read a full text."]

# What raters are asked. It may stand in a file of its own: rubric = "rubric.toml"
[rubric]
id = "trials"
version = "1"
title = "Randomised trials"
instructions = """
Judge only what the title and abstract say. A protocol of a trial is a trial.
"""
asks_confidence = true
reason = "optional"           # or "required"
reason_max = 400              # characters

[[rubric.categories]]         # in score order; several may be chosen
id = "trial"
label = "Randomised trial"
description = "The work reports, or plans, a randomised trial."

[[rubric.categories]]
id = "review"
label = "Review of trials"
description = "The work reviews randomised trials."

[[rubric.categories]]
id = "insufficient_payload"
label = "Cannot be screened"
cannot_be_screened = true     # stands alone; leaves every other category unknown, never negative

[[rubric.fields]]             # a closed question beside the categories
id = "design"
label = "Design of the trial"
values = ["parallel", "crossover", "cluster", "other"]
required = "optional"         # or "always"; or "exactly_when", with when = "trial"

[[raters]]
id = "ada"
kind = "human"
name = "Ada"

[[raters]]
id = "ben"
kind = "human"
name = "Ben"

[[raters]]
id = "rule"
kind = "model"
name = "A keyword rule, no language model"
version = "1"
model = "proofshelf-keywords" # the id by which `llm models` lists it

[[samples]]                   # leave samples out to screen every work of the catalog
id = "pilot-sample"
salt = "pilot-2026"           # order of the draw: SHA-256 of id and salt
[[samples.strata]]
id = "recent"
where = { field = "year", at_least = 2015 }
draw = 40
[[samples.strata]]
id = "older"
where = { otherwise = true }    # what no other stratum takes, works without a year included
draw = 20

[[rounds]]
id = "pilot-screen"
title = "First screen"
instrument = "title+abstract" # or "title", "full text"
raters = ["ada", "ben", "rule"]
adjudicators = ["ada"]
sample = "pilot-sample"
chunk_size = 20
seed = 1                      # order of presentation
'''


def simple(study: str, title: str) -> str:
    """A study with one category, `include`, two people and every work of the catalog, as TOML."""
    return f"""\
id = {_text(study)}
title = {_text(title)}

[rubric]
id = {_text(f"{study}-rubric")}
version = "1"
title = {_text(title)}
asks_confidence = false

[[rubric.categories]]
id = "include"
label = "Include"

[[rubric.categories]]
id = "cannot_screen"
label = "Cannot be screened"
cannot_be_screened = true

[[raters]]
id = {_text(f"{study}-first")}
kind = "human"
name = "First screener"

[[raters]]
id = {_text(f"{study}-second")}
kind = "human"
name = "Second screener"

[[rounds]]
id = {_text(f"{study}-screen")}
title = "Titles and abstracts"
instrument = "title+abstract"
raters = [{_text(f"{study}-first")}, {_text(f"{study}-second")}]
adjudicators = [{_text(f"{study}-first")}]
"""


def _text(value: str) -> str:
    """A TOML basic string: JSON's escapes are among TOML's, and DEL is the one control it leaves."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
