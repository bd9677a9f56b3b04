"""Agreement and prevalence by the commands, on ten works whose figures are worked by hand."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from catalog.screening_pages import RatingTable
from catalog.screening_statistics import validation_warnings

NAMES = ("able", "baker", "charlie", "dog", "easy", "fox", "george", "how", "item", "jig")
ADA = {"able", "baker", "charlie", "dog"}
BEN = {"able", "baker", "charlie", "easy", "fox"}


@pytest.fixture
def slugs(run: Any, tea: Path) -> dict[str, str]:
    """Name -> slug of the ten works."""
    return {row["slug"].split("-")[0]: row["slug"]
            for row in json.loads(run("list", "works", "--json").stdout)["rows"]}  # fmt: skip


def vote(
    run: Any, tea: Path, slugs: dict[str, str], round_: str, rater: str, positive: set[str],
    unsure: tuple[str, ...] = (),
) -> None:  # fmt: skip
    """Votes of one rater on every work of a round."""
    chunks = json.loads(run("screen", "manifest", round_, "--json").stdout)["chunks"]
    works = {work for chunk in chunks for work in chunk["works"]}
    rows = ["work,decision,categories"]
    for name, slug in slugs.items():
        if slug in works:
            decision = "in_scope" if name in positive else "unsure" if name in unsure else "out_of_scope"
            rows.append(f"{slug},{decision},{'trial' if name in positive else ''}")
    (tea / "v.csv").write_text("\n".join(rows) + "\n")
    done = run("screen", "import-votes", "v.csv", "--round", round_, "--rater", rater)
    assert done.exit_code == 0, done.output


def questions(run: Any, line: str) -> list[dict[str, Any]]:
    result = run("screen", *line.split(), "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)["questions"]
    return found


def pair(question: dict[str, Any], *raters: str, weighting: str = "raw") -> dict[str, Any]:
    """The table of two raters over all strata."""
    tables = [t for t in question["report"]["tables"] if t["stratum"] is None]
    return next(t for t in tables if (t["raters"], t["weighting"]) == (list(raters), weighting))


def values(table: dict[str, Any]) -> dict[str, float | None]:
    return {c["name"]: c["value"] for c in table["coefficients"]}


def test_agreement_of_two_people(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(run, tea, slugs, "all", "ada", ADA)
    vote(run, tea, slugs, "all", "ben", BEN)
    question = questions(run, "agreement all --category scope")[0]
    found = values(pair(question, "ada", "ben"))
    # Ada includes 4 of 10, Ben 5, both 3: they agree on 3 + 4 = 7. By hand:
    expected = {
        "percent_agreement": 0.7,
        "cohen_kappa": (0.7 - 0.5) / 0.5,  # by chance .4 x .5 + .6 x .5 = .5
        "fleiss_kappa": (0.7 - 0.505) / 0.495,  # .45^2 + .55^2 = .505
        "krippendorff_alpha": 1 - 0.3 / (2 * 9 * 11 / (20 * 19)),  # 9 of 20 ratings are positive
        "gwet_ac1": (0.7 - 0.495) / 0.505,  # 2 x .45 x .55 = .495
        "pabak": 2 * 0.7 - 1,
        "jaccard": 3 / 6,
    }
    assert found == pytest.approx(expected)
    counts = pair(question, "ada", "ben")["counts"]
    assert (counts["compared"], counts["positives"]) == (10, [4, 5])
    # Four and five positives are few: said, with the counts.
    assert question["warnings"] == [
        "rare: fewer than 10 positives (ada 4 of 10, ben 5 of 10); kappa and percent agreement mislead here, "
        "so read the counts"
    ]


def test_an_unusable_vote_and_one_not_cast_are_missing_and_never_negative(
    run: Any, tea: Path, slugs: dict[str, str]
) -> None:
    vote(run, tea, slugs, "all", "ada", ADA, unsure=("fox", "jig"))
    vote(run, tea, slugs, "all", "ben", BEN)
    question = questions(run, "agreement all --category scope")[0]
    counted = {r["rater"]: (r["positive"], r["negative"], r["unusable"], r["not_cast"])
               for r in question["raters"]}  # fmt: skip
    assert counted == {"ada": (4, 4, 2, 0), "ben": (5, 5, 0, 0), "rule": (0, 0, 0, 10)}
    # On the eight works that both could judge: both 3, neither 3 (george, how, item), so 6 of 8.
    assert values(pair(question, "ada", "ben"))["percent_agreement"] == pytest.approx(0.75)
    assert values(pair(question, "ada", "rule"))["percent_agreement"] is None


def test_a_machine_is_named_as_one(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(run, tea, slugs, "all", "ada", ADA)
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    text = run("screen", "agreement", "all", "--category", "trial").stdout
    assert "rule [machine]" in text
    assert "machine_direct_unvalidated" in text
    assert "ada and rule · raw · machine: rule" in text
    prevalence = run("screen", "prevalence", "all", "--category", "trial").stdout
    assert "rule [machine]" in prevalence
    assert "ada [person]" in prevalence


def test_the_same_seed_gives_the_same_bytes(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(run, tea, slugs, "all", "ada", ADA)
    vote(run, tea, slugs, "all", "ben", BEN)
    line = ["screen", "agreement", "all", "--category", "scope", "--replicates", "200", "--json", "--seed"]
    one, two, three = (run(*line, seed).stdout for seed in ("1", "1", "2"))
    assert one == two
    assert one != three


def test_one_rater_agrees_with_nobody(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(run, tea, slugs, "sampled", "ada", ADA)
    question = questions(run, "agreement sampled --category scope")[0]
    assert question["report"] is None
    assert question["undefined"] == "1 rater; agreement needs two or more"
    assert (
        "No agreement: 1 rater; agreement needs two or more." in run("screen", "agreement", "sampled").stdout
    )


def test_every_question_is_answered_where_none_is_named(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    vote(run, tea, slugs, "all", "ada", ADA)
    vote(run, tea, slugs, "all", "ben", BEN)
    found = questions(run, "agreement all --replicates 100")
    assert [q["category"] for q in found] == [None, "trial", "cannot"]


def sampled_positives(run: Any) -> set[str]:
    """One work of each stratum of the sample."""
    chunks = json.loads(run("screen", "manifest", "sampled", "--json").stdout)["chunks"]
    works = sorted(work for chunk in chunks for work in chunk["works"])
    return {next(w for w in works if f"-{year}-" in w).split("-")[0] for year in ("2020", "2000")}


def test_prevalence_of_a_stratified_sample(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    # Recent: 3 of 6 drawn, 1 positive; older: 2 of 4 drawn, 1 positive. By hand, with f = 1/2 in both:
    # p = .6 x 1/3 + .4 x 1/2 = .4; Var = .36 x .5 x (2/9)/2 + .16 x .5 x (1/4)/1 = .02 + .02, SE = .2.
    vote(run, tea, slugs, "sampled", "ada", sampled_positives(run))
    question = questions(run, "prevalence sampled --category scope")[0]["estimate"]
    overall = question["reports"][0]["overall"]
    assert (overall["frame"], overall["sampled"], overall["positive"]) == (10, 5, 2)
    assert overall["estimate"] == pytest.approx(0.4)
    assert overall["se"] == pytest.approx(0.2)
    # 1.959964 x .2 = .391993 on either side.
    assert (overall["wald"]["low"], overall["wald"]["high"]) == pytest.approx((0.008007, 0.791993), abs=1e-6)
    assert [s["estimate"] for s in question["reports"][0]["strata"]] == pytest.approx([1 / 3, 1 / 2])
    text = run("screen", "prevalence", "sampled", "--category", "scope", "--by", "stratum").stdout
    assert "Share of positives in the frame of sample half, 10 works." in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith("    ")][1:4] == [
        "overall", "recent", "older",
    ]  # fmt: skip


def test_unknown_works_bound_the_prevalence(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    positive = sampled_positives(run)
    others = [n for n in NAMES if n not in positive]
    chunks = json.loads(run("screen", "manifest", "sampled", "--json").stdout)["chunks"]
    unsure = next(n for n in others if slugs[n] in chunks[0]["works"] and "-2020-" in slugs[n])
    vote(run, tea, slugs, "sampled", "ada", positive, unsure=(unsure,))
    overall = questions(run, "prevalence sampled --category scope")[0]["estimate"]["reports"][0]["overall"]
    # Recent: 1 of 2 that could be judged, so .6 x 1/2 + .4 x 1/2 = .5; were it negative .4, positive .6.
    assert (overall["usable"], overall["unknown"]) == (4, 1)
    assert overall["estimate"] == pytest.approx(0.5)
    assert (overall["bounds"]["low"], overall["bounds"]["high"]) == pytest.approx((0.4, 0.6))


def test_a_round_of_every_work_says_that_nothing_follows_for_others(
    run: Any, tea: Path, slugs: dict[str, str]
) -> None:
    vote(run, tea, slugs, "all", "ada", ADA)
    question = questions(run, "prevalence all --category scope")[0]["estimate"]
    assert question["frame"] == (
        "the 10 works of the round itself: without a sample, nothing follows for others"
    )
    # Ada's share is known without sampling error, and the panel's isn't known at all: two haven't voted.
    ada = question["reports"][0]["overall"]
    assert (ada["estimate"], ada["wald"]["low"], ada["wald"]["high"]) == (0.4, 0.4, 0.4)
    assert [r["overall"]["estimate"] for r in question["panel"]] == [None] * 3


def test_a_machine_is_corrected_by_people(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    # The rule includes the five trials; ada four of them, all but `item`. Of its ten calls: 4 true and 1
    # false positive, 5 true and 0 false negatives. Sensitivity 1, specificity 5/6, apparent .5:
    # (.5 + 5/6 - 1) / (1 + 5/6 - 1) = .4; Var = .6^2 x (5/36)/6 / (5/6)^2 = .012, SE = .109545.
    vote(run, tea, slugs, "all", "ada", {"able", "charlie", "easy", "george"})
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    found = questions(run, "prevalence all --category trial --validation all")[0]["corrections"]
    assert [c["rater"] for c in found] == ["rule"]
    corrected = found[0]["corrected"]
    assert (corrected["sensitivity"], corrected["specificity"]) == pytest.approx((1, 5 / 6))
    assert (corrected["estimate"], corrected["se"]) == pytest.approx((0.4, 0.012**0.5))
    text = run("screen", "prevalence", "all", "--category", "trial", "--validation", "all").stdout
    assert "Against the people of all: 4 true and 1 false positives, 5 true and 0 false negatives." in text
    # Both are of the same ten works: what the machine's share owes to chance, its errors owe to it too.
    assert "Round all validates the very works that the share is of" in " ".join(text.split())


def test_a_validation_says_what_it_does_not_give() -> None:
    """Works drawn with weights 10 and 1 count alike in sensitivity, which is that of no frame then."""
    calls = RatingTable(
        "machine", None, ("a", "b", "c"), ("rule",), ("model",), (), ((True,),) * 3, None, None
    )
    truth = RatingTable("people", None, ("a", "b"), ("ann",), ("human",), (), ((True,), (False,)), None, None)
    assert validation_warnings(calls, truth) == ()
    assert validation_warnings(calls, replace(truth, weights=(5.0, 5.0))) == ()
    (said,) = validation_warnings(calls, replace(truth, weights=(10.0, 1.0)))
    assert "unequal weights" in said


def test_a_band_where_nothing_is_measured(run: Any, tea: Path, slugs: dict[str, str]) -> None:
    assert run("screen", "run", "all", "--rater", "rule").exit_code == 0
    line = "prevalence all --category trial --sensitivity 0.8 1 --specificity 0.9 1"
    band = questions(run, line)[0]["corrections"][0]["band"]
    # Apparent .5: the least with a perfect sensitivity and specificity .9, (.5 - .1) / .9; the most with
    # sensitivity .8 and a perfect specificity, .5 / .8.
    assert (band["low"], band["high"]) == pytest.approx((0.4 / 0.9, 0.625))
    text = run("screen", *line.split()).stdout
    assert "none of them measured" in text
    assert "contradict" not in text
    # Of .4 and .95 with 0.3 and 1: .4 + .3 is no better than chance; .4 and 1 would give .5 / .4, above 1;
    # .95 and .3 give (.5 - .7) / .25, below 0. Only .5 / .95 is left as it is.
    line = "prevalence all --category trial --sensitivity 0.4 0.95 --specificity 0.3 1"
    text = " ".join(run("screen", *line.split()).stdout.split())
    assert "2 of 4 assumed pairs contradict the share that was found" in text
    assert "1 of 4 assumed pairs are no better than chance" in text


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("prevalence sampled --sensitivity 0.8 1 --specificity 0.9 1",
         "round sampled has no machine rater, so there are no errors of one to correct"),
        ("prevalence all --validation all --category trial",
         "validation: no record is truly positive, so sensitivity is unknown"),
        ("prevalence nowhere", "there is no round 'nowhere' here; there is all, sampled"),
        ("agreement nowhere", "there is no round 'nowhere' here; there is all, sampled"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_sentence(run: Any, tea: Path, line: str, sentence: str) -> None:
    result = run("screen", *line.split())
    assert (result.exit_code, result.stderr) == (1, f"proofshelf: {sentence}\n")
