"""Analyses over tables: what they refuse, and small cases by hand. (Published figures: tests/packages.)"""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from artifacts.analyses import registered
from classifiers.analyses.agreement import agreement_counts
from classifiers.analyses.maturity import maturity_gate
from classifiers.analyses.prevalence import prevalence
from classifiers.analyses.quotas import quota_counts
from classifiers.errors import ClassifierError

FUNCTIONS = {
    "agreement": agreement_counts,
    "prevalence": prevalence,
    "maturity": maturity_gate,
    "quota": quota_counts,
}
GOOD = {
    "pairs": "comparison,works,a,b,both\nx,10,4,3,2\n",
    "panels": "comparison,raters,positives,works\ny,3,0,5\ny,3,2,4\n",
    "strata": "design,stratum,frame,sampled\nd,s,100,10\nd,t,50,10\n",
    "positives": "design,stratum,rater,positive,unknown\nd,s,ann,2,1\nd,t,ann,0,0\n",
    "rounds": "round,average_precision,churn,spearman\n1,0.5,,\n2,0.6,0.1,0.99\n",
    "rates": "head,category,rate,covered\na,c,0.25,10\nb,c,0.5,10\n",
    "calls": "category,candidate,consensus\nc,5,2\n",
}
INPUTS = {
    "agreement": ("pairs", "panels"),
    "prevalence": ("strata", "positives"),
    "maturity": ("rounds",),
    "quota": ("rates", "calls"),
}


def run(folder: Path, name: str, parameters: dict[str, Any] | None = None, **changed: str) -> dict[str, Any]:
    inputs = {}
    for table in INPUTS[name]:
        inputs[table] = folder / f"{table}.csv"
        inputs[table].write_text(changed.get(table, GOOD[table]), encoding="utf-8")
    return FUNCTIONS[name](inputs, parameters or {}, 1)


def test_they_are_registered(tmp_path: Path) -> None:
    points = {e.name: e.load() for e in entry_points(group="proofshelf.analyses")}
    for name in FUNCTIONS:
        expected = run(tmp_path, name)
        inputs = {table: tmp_path / f"{table}.csv" for table in INPUTS[name]}
        assert points[f"screening-{name}"](inputs, {}, 1) == expected


def test_ours_are_one_implementation_so_none_confirms_another() -> None:
    ours = [a for a in registered().values() if a.entry_point.startswith("classifiers")]
    assert {a.implementation for a in ours} == {"classifiers"}
    assert {a.name for a in ours} >= {"classifier-report", "classifier-training", "screening-agreement"}


def test_quotas_by_hand(tmp_path: Path) -> None:
    outputs = run(tmp_path, "quota")["outputs"]
    # 0.25 x 10 = 2.5 and 0.5 x 10 = 5; halves round to the even number, as Python and IEEE 754 do.
    assert outputs["quotas"] == {"c": {"a": 2, "b": 5}}
    assert outputs["identities"] == {"c": {"published": 7, "sides": 7, "missing": 0}}


def test_weights_and_prevalence_by_hand(tmp_path: Path) -> None:
    outputs = run(tmp_path, "prevalence")["outputs"]["d"]
    assert outputs["weights"] == {"s": 10.0, "t": 5.0}
    ann = outputs["prevalence"]["ann"]
    # 2 of the 9 that could be judged stand for the 100, 0 of 10 for the 50; the unknown one is no negative.
    assert ann["estimate"] == pytest.approx(100 / 150 * 2 / 9, rel=1e-12)
    assert ann["unknown"] == 1


def test_a_round_without_numbers_yet(tmp_path: Path) -> None:
    outputs = run(tmp_path, "maturity")["outputs"]
    assert outputs["maturity"] == "unknown"
    assert {c["passed"] for c in outputs["conditions"].values()} == {None}


def test_no_gain_on_an_average_precision_of_0(tmp_path: Path) -> None:
    """Nothing can be divided by 0: the gain has no value, and its condition isn't known."""
    rows = "".join(f"{n},{0.0 if n == 1 else 0.5},0.1,0.9\n" for n in range(1, 7))
    found = run(tmp_path, "maturity", rounds="round,average_precision,churn,spearman\n" + rows)["outputs"]
    assert found["gain"] is None
    assert found["conditions"]["average_precision"]["passed"] is None


def test_agreement_names_what_has_no_value(tmp_path: Path) -> None:
    outputs = run(tmp_path, "agreement", pairs="comparison,works,a,b,both\nx,10,0,0,0\n")["outputs"]
    assert outputs["x"]["cohen_kappa"] is None
    assert outputs["x"]["cohen_kappa_undefined"]
    assert outputs["x"]["percent_agreement"] == 1
    assert outputs["y"]["any_positive"] == 4


def test_same_seed_same_intervals(tmp_path: Path) -> None:
    assert run(tmp_path, "agreement", {"replicates": 200}) == run(
        tmp_path, "agreement", {"replicates": "200"}
    )


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("agreement", {"pairs": "comparison,works,a,b\nx,10,4,3\n"}, "pairs has no column 'both'"),
        (
            "agreement",
            {"pairs": "comparison,works,a,b,both,z\nx,1,1,1,1,1\n"},
            "pairs has a column 'z' that isn't read",
        ),
        (
            "agreement",
            {"pairs": "comparison,works,a,b,both\nx,10,4,3\n"},
            "pairs, line 2: 4 cells; expected 5",
        ),
        ("agreement", {"pairs": "comparison,works,a,b,both\nx,10,4,3,-2\n"}, "pairs, line 2: both is '-2'"),
        (
            "agreement",
            {"pairs": "comparison,works,a,b,both\nx,10,4,3,9\n"},
            "pairs, line 2: both is 9, more than",
        ),
        (
            "agreement",
            {"pairs": "comparison,works,a,b,both\nx,9,1,1,1\nx,9,1,1,1\n"},
            "line 3: the comparison 'x' is",
        ),
        (
            "agreement",
            {"pairs": "comparison,works,a,b,both\ny,9,1,1,1\n"},
            "'y' is among both pairs and panels",
        ),
        ("agreement", {"pairs": "comparison,works,a,b,both\n"}, "pairs has no rows"),
        ("agreement", {"pairs": ""}, "pairs has no rows"),
        ("agreement", {"panels": "comparison,raters,positives,works\ny,3,4,5\n"}, "4 positives of 3 raters"),
        (
            "agreement",
            {"panels": "comparison,raters,positives,works\ny,3,1,5\ny,2,0,5\n"},
            "2 raters here and 3 before",
        ),
        ("prevalence", {"strata": "design,stratum,frame,sampled\nd,s,5,6\n"}, "line 2: 6 sampled of 5"),
        ("prevalence", {"strata": "design,stratum,frame,sampled\nd,s,5,0\n"}, "line 2: 0 sampled of 5"),
        ("prevalence", {"strata": "design,stratum,frame,sampled\nd,s,9,1\nd,s,9,1\n"}, "is there twice"),
        (
            "prevalence",
            {"positives": "design,stratum,rater,positive,unknown\nd,u,ann,1,0\n"},
            "'u' is no stratum of 'd'",
        ),
        (
            "prevalence",
            {"positives": "design,stratum,rater,positive,unknown\nd,s,ann,1,0\n"},
            "no line for stratum 't'",
        ),
        (
            "prevalence",
            {"positives": "design,stratum,rater,positive,unknown\nd,s,ann,9,2\n"},
            "positives: ann has no line",
        ),
        (
            "maturity",
            {"rounds": "round,average_precision,churn,spearman\n1,,,\n"},
            "average_precision is empty",
        ),
        (
            "maturity",
            {"rounds": "round,average_precision,churn,spearman\n1,nan,,\n"},
            "is 'nan'; expected a number",
        ),
        (
            "maturity",
            {"rounds": "round,average_precision,churn,spearman\n2,1,,\n1,1,,\n"},
            "in increasing order",
        ),
        ("quota", {"rates": "head,category,rate,covered\na,c,1.5,10\n"}, "rate is 1.5; expected a share"),
        (
            "quota",
            {"rates": "head,category,rate,covered\na,c,.5,9\na,c,.5,9\n"},
            "a has a rate for c already",
        ),
        ("quota", {"rates": "head,category,rate,covered\na,c,.5,9\n"}, "exactly two heads"),
        (
            "quota",
            {"rates": 'head,category,rate,covered\n"a,c,.5,9\n'},
            "rates, line 2: unexpected end of data",
        ),
    ],
)
def test_a_table_that_makes_no_sense(tmp_path: Path, name: str, changed: dict[str, str], said: str) -> None:
    with pytest.raises(ClassifierError) as caught:
        run(tmp_path, name, **changed)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"seed": 1}, "there is no parameter 'seed'"),
        ({"replicates": "many"}, "replicates is 'many'; expected a whole number"),
        ({"replicates": 2.5}, "replicates is 2.5; expected a whole number"),
        ({"replicates": True}, "replicates is True; expected a whole number"),
        ({"replicates": None}, "replicates is None; expected a whole number"),
    ],
)
def test_a_parameter_that_makes_no_sense(tmp_path: Path, parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(ClassifierError, match=said):
        run(tmp_path, "agreement", parameters)


def test_an_input_that_isnt_there_or_isnt_text(tmp_path: Path) -> None:
    with pytest.raises(ClassifierError, match="the input 'rounds' is missing"):
        maturity_gate({}, {})
    with pytest.raises(ClassifierError, match="neither 'pairs' nor 'panels'"):
        agreement_counts({}, {})
    (tmp_path / "rounds.csv").write_bytes(b"round,average_precision\xff")
    with pytest.raises(ClassifierError, match="isn't UTF-8"):
        maturity_gate({"rounds": tmp_path / "rounds.csv"}, {})
