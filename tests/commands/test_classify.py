"""A student from its training to its calls, on a small made-up study, through the command line."""

import csv
import hashlib
import io
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from catalog.commands.group import cli
from catalog.screening_pages import NOT_CAST, RatingTable
from catalog.screening_queries import rating_table, works_voted
from catalog.store import Catalog, create, open_catalog
from catalog.training.calls import _incomplete, _rates
from catalog.training.synthetic import add_synthetic_study
from catalog.training.train import Choices, train_release
from classifiers.student import Parameters
from schema.states import Status

RELEASE, ROUND = "synthetic-r1", "synthetic-abstracts"
VALIDATION = """\
id = "val"
title = "A second look"
caveats = ["Made up."]
[rubric]
id = "val-rubric"
version = "1"
title = "Replications"
asks_confidence = false
[[rubric.categories]]
id = "replication"
label = "Replication"
[[raters]]
id = "zoe"
kind = "human"
name = "Zoe"
[[raters]]
id = "yan"
kind = "human"
name = "Yan"
[[rounds]]
id = "second-look"
title = "A second look"
instrument = "title+abstract"
raters = ["zoe", "yan"]
chunk_size = 1000
"""


def invoke(folder: Path, *arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["--db", str(folder / "shelf.db"), *map(str, arguments)])


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic study of 700 works, 300 of them rated, and a release for one category."""
    folder = tmp_path_factory.mktemp("classify")
    with create(folder / "shelf.db", who="tester") as catalog:
        add_synthetic_study(catalog, seed=7, works=700, french=60, other=240, who="tester")
    result = invoke(
        folder, "classify", "train", "synthetic", "--category", "replication", "--without-texts",
        "--jobs", "1", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    (folder / "trained.json").write_text(result.stdout)
    return folder


@pytest.fixture(scope="session")
def decided(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with scores, calls, and a person's votes on every work: every fifth is a replication."""
    folder = tmp_path_factory.mktemp("decided") / "shelf"
    shutil.copytree(trained, folder)
    (folder / "val.toml").write_text(VALIDATION)
    for line in (f"classify score {RELEASE} --jobs 1", f"classify decide {RELEASE}",
                 f"screen design {folder / 'val.toml'}", "screen manifest second-look"):  # fmt: skip
        result = invoke(folder, *line.split())
        assert result.exit_code == 0, result.output
    works = [
        w for (w,) in rows(folder, "SELECT slug FROM works WHERE slug <> 'synthetic-study' ORDER BY slug")
    ]
    lines = [f"{w},{'in_scope,replication' if i % 5 == 0 else 'out_of_scope,'}" for i, w in enumerate(works)]
    (folder / "zoe.csv").write_text("\n".join(["work,decision,categories", *lines]) + "\n")
    result = invoke(
        folder, "screen", "import-votes", folder / "zoe.csv", "--round", "second-look", "--rater", "zoe"
    )
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[Path], Path]:
    """A copy of a catalog, to do harm to."""
    return lambda folder: Path(shutil.copytree(folder, tmp_path / "copy"))


def rows(folder: Path, sql: str, *values: Any) -> list[Any]:
    with sqlite3.connect(f"file:{folder / 'shelf.db'}?mode=ro", uri=True) as db:
        return db.execute(sql, values).fetchall()


def printed(folder: Path, *arguments: str | Path) -> Any:
    result = invoke(folder, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def stored(folder: Path, path: str) -> Path:
    ((sha256,),) = rows(folder, "SELECT sha256 FROM release_files WHERE path = ?", path)
    return folder / "shelf.db.objects" / sha256[:2] / sha256


def refused(result: Result) -> str:
    """One sentence on standard error, exit code 1, no traceback."""
    assert result.exit_code == 1, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("proofshelf: ")
    assert "unexpected" not in lines[0]
    assert not result.stdout.strip()
    return lines[0]


def test_a_release_says_what_it_learned_from_and_is_only_scores(trained: Path) -> None:
    made = json.loads((trained / "trained.json").read_text())
    assert made["new"] is True
    assert made["works"] == 300
    assert made["label_statuses"] == ["machine_direct_unvalidated"]
    assert {side["kind"] for side in made["sides"]} == {"model"}
    assert made["release"]["status"] == "score_only:v0-immature-baseline"
    assert made["gate"]["maturity"] == "unknown"  # one round can't say that nothing changes
    # Positives as the votes in the catalog say, counted by SQL.
    counted = dict(rows(
        trained,
        "SELECT rater, sum(vote) FROM category_votes WHERE category = 'replication' GROUP BY rater",
    ))  # fmt: skip
    assert {h["name"]: h["positives"] for h in made["release"]["heads"]} == counted


def test_training_again_gives_the_release_that_is_here(trained: Path) -> None:
    first = json.loads((trained / "trained.json").read_text())
    again = printed(
        trained, "classify", "train", "synthetic", "--category", "replication", "--without-texts",
        "--jobs", "2",
    )  # fmt: skip
    assert again["new"] is False
    assert again["release"] == first["release"]


def test_the_report_is_what_scikit_learn_makes_of_the_saved_predictions(trained: Path) -> None:
    report = printed(trained, "classify", "report", RELEASE)["report"]
    text = stored(trained, "outputs/out-of-fold.csv").read_text()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert {head["head"] for head in report["heads"]} == {line["head"] for line in lines}
    for head in report["heads"]:
        mine = [line for line in lines if line["head"] == head["head"] and line["y"] and line["probability"]]
        y, p, w = (np.array([float(line[c]) for line in mine]) for c in ("y", "probability", "weight"))
        after = head["calibration"]["after"]
        expected = average_precision_score(y, p, sample_weight=w)
        assert after["average_precision"]["value"] == pytest.approx(expected)
        assert after["roc_auc"]["value"] == pytest.approx(roc_auc_score(y, p, sample_weight=w))
        assert after["brier"]["brier"] == pytest.approx(brier_score_loss(y, p, sample_weight=w))
    assert report["status"] == "out_of_fold_teacher_fidelity"


def test_the_report_for_people_and_its_charts(trained: Path, tmp_path: Path) -> None:
    result = invoke(trained, "classify", "report", RELEASE, "--to", tmp_path / "charts")
    assert result.exit_code == 0, result.output
    assert "labels machine_direct_unvalidated" in result.output
    assert "human" not in result.output
    charts = sorted(tmp_path.glob("charts/*.svg"))
    assert charts
    assert all(chart.read_text().startswith("<svg") for chart in charts)
    assert "--force" in refused(invoke(trained, "classify", "report", RELEASE, "--to", tmp_path / "charts"))


def test_without_scores_nothing_is_called_or_compared(trained: Path) -> None:
    assert "classify score" in refused(invoke(trained, "classify", "decide", RELEASE))
    assert "classify score" in refused(invoke(trained, "classify", "evaluate", RELEASE, "--round", ROUND))


def test_scores_cover_the_frame_once(decided: Path) -> None:
    again = printed(decided, "classify", "score", RELEASE, "--jobs", "1")
    assert (again["works"], again["scored"], again["new"], again["known"]) == (700, 700, 0, 700)
    assert again["status"] == "score_only:v0-immature-baseline"
    assert rows(decided, "SELECT count(*) FROM scores_readable")[0][0] == 1400


def test_calls_are_the_top_k_and_add_up(decided: Path) -> None:
    shown = printed(decided, "classify", "decide", RELEASE)
    assert shown["new"] is False
    k = {q["head"]: q["k"] for q in shown["run"]["quotas"]}
    assert k == {q["head"]: round(q["rate"] * 700) for q in shown["run"]["quotas"]}
    calls = rows(decided, "SELECT work, call, sides, status FROM calls_readable")
    assert {status for *_, status in calls} == {"machine_predicted_unvalidated"}
    for head, size in k.items():
        ranked = rows(
            decided, "SELECT work FROM scores_readable WHERE head = ? ORDER BY value DESC, work LIMIT ?",
            head, size,
        )  # fmt: skip
        assert {w for w, _, sides, _ in calls if head in json.loads(sides)} == {w for (w,) in ranked}
    both = sum(call == "consensus" for _, call, *_ in calls)
    assert shown["counts"]["replication"] == {"candidate": len(calls), "consensus": both}
    assert len(calls) + both == sum(k.values())
    assert all((call == "consensus") == (len(json.loads(sides)) == 2) for _, call, sides, _ in calls)


def test_a_census_has_a_rate_without_sampling_error(decided: Path) -> None:
    """All 700 works were asked about: another draw couldn't give another rate."""
    with sqlite3.connect(f"file:{decided / 'shelf.db'}?mode=ro", uri=True) as db:
        db.row_factory = sqlite3.Row
        table = rating_table(db, "second-look", "replication")
    (rate,) = _rates(table, None, "replication", ["zoe", "nobody"])
    with (decided / "zoe.csv").open() as file:
        positive = sum(line["decision"] == "in_scope" for line in csv.DictReader(file))
    assert (rate.rate, rate.positives) == (positive / 700, positive)
    assert (rate.low, rate.high) == (rate.rate, rate.rate)


def test_what_a_rate_takes_for_granted_is_said_by_its_cause() -> None:
    """The rate is of the usable votes: two works that Ann hasn't judged yet and one that she couldn't are
    taken to be like the rest, and so is one of Bot's."""
    votes = ((True, True), (False, None), (None, False), (NOT_CAST, False), (NOT_CAST, True))
    table = RatingTable(
        "screen", "trial", tuple("abcde"), ("ann", "bot"), ("human", "model"),
        (Status.HUMAN_DIRECT, Status.MACHINE_DIRECT), votes, None, None,
    )  # fmt: skip
    assert _incomplete(table, "trial", ["ann", "bot", "nobody"]) == [
        "trial: no vote yet on 2 by ann, of 5 works of round screen; rates take them to be like the others",
        "trial: a vote that says nothing of it on 1 by ann, 1 by bot, of 5 works of round screen; "
        "rates take them to be like the others",
    ]
    assert _incomplete(table, "trial", ["nobody"]) == []


def test_a_dry_run_records_nothing(trained: Path, copy: Callable[[Path], Path]) -> None:
    folder = copy(trained)
    assert invoke(folder, "classify", "score", RELEASE, "--jobs", "1").exit_code == 0
    shown = printed(folder, "classify", "decide", RELEASE, "--dry-run")
    assert (shown["recorded"], shown["new"]) == (False, False)
    assert rows(folder, "SELECT count(*) FROM decision_runs") == [(0,)]


def test_a_validation_leaves_out_what_was_learned_from(decided: Path) -> None:
    found = printed(decided, "classify", "evaluate", RELEASE, "--round", "second-look", "--rater", "zoe")
    learned = {w for (w,) in rows(decided, "SELECT DISTINCT work FROM category_votes WHERE round = ?", ROUND)}
    with (decided / "zoe.csv").open() as file:
        said = {line["work"]: line["decision"] == "in_scope" for line in csv.DictReader(file)}
    for head in found["heads"]:
        assert (head["rater"], head["status"]) == ("zoe", "human_direct")
        given = rows(
            decided, "SELECT work, value FROM scores_readable WHERE head = ? ORDER BY work", head["head"]
        )  # fmt: skip
        kept = [(said[w], s) for w, s in given if w not in learned]
        y, p = np.array([y for y, _ in kept]), np.array([s for _, s in kept])
        assert (head["left_out"], head["unknown"], head["unscored"]) == (300, 0, 0)
        assert (head["support"]["records"], head["support"]["positives"]) == (400, int(y.sum()))
        assert head["metrics"]["average_precision"]["value"] == pytest.approx(average_precision_score(y, p))
        assert head["metrics"]["roc_auc"]["value"] == pytest.approx(roc_auc_score(y, p))


def test_a_release_is_not_tested_on_its_own_lessons(decided: Path) -> None:
    assert "learned from" in refused(invoke(decided, "classify", "evaluate", RELEASE, "--round", ROUND))


def test_votes_cast_after_the_training_are_no_lesson(trained: Path, decided: Path) -> None:
    """Zoe voted after the training, in a round that it might have learned from."""
    (record,) = rows(trained, "SELECT record FROM model_releases")[0]
    last = json.loads(record)["last_vote"]
    with sqlite3.connect(f"file:{decided / 'shelf.db'}?mode=ro", uri=True) as db:
        assert len(works_voted(db, [ROUND], last)) == 300
        assert len(works_voted(db, ["second-look"], last)) == 0
        assert len(works_voted(db, ["second-look", ROUND])) == 700


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train", "nosuch"), "there is no study 'nosuch' here"),
        (("train", "synthetic", "--round", "nosuch"), "'nosuch' is no round with votes in the study"),
        (("train", "synthetic", "--rater", "nosuch"), "'nosuch' is no rater with votes in the study"),
        (("train", "synthetic", "--category", "nosuch"), "'nosuch' is no category with votes in the study"),
        (("train", "synthetic", "--features", "title,smell"), "'smell' is not a feature"),
        (("train", "synthetic", "--features", ""), "neither title nor abstract"),
        (("train", "val", "--rater", "yan"), "'yan' is no rater with votes"),
        (("report", "nosuch"), "there is no release 'nosuch' here"),
        (("score", "nosuch"), "there is no release 'nosuch' here"),
        (("decide", "nosuch"), "there is no release 'nosuch' here"),
        (("decide", RELEASE, "--round", "nosuch"), "there is no round 'nosuch' here"),
        (("decide", RELEASE, "--round", "second-look"), "round second-look isn't one of synthetic"),
        (("evaluate", RELEASE, "--round", "nosuch"), "there is no round 'nosuch' here"),
        (("evaluate", RELEASE, "--round", "second-look", "--rater", "nosuch"), "'nosuch' is no rater of"),
        (("evaluate", RELEASE, "--round", "second-look", "--rater", "yan"), "has no vote of yan yet"),
    ],
)
def test_bad_input_is_one_sentence(decided: Path, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in refused(invoke(decided, "classify", *arguments))


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_a_model_that_was_harmed_scores_nothing(
    trained: Path, copy: Callable[[Path], Path], harm: str
) -> None:
    folder = copy(trained)
    file = stored(folder, "model/model.npz")
    file.chmod(0o600)
    if harm == "changed":
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
    else:
        file.unlink()
    assert "model/model.npz" in refused(invoke(folder, "classify", "score", RELEASE))
    assert rows(folder, "SELECT count(*) FROM scores") == [(0,)]
    assert invoke(folder, "audit", "--objects").exit_code == 3


def test_predictions_that_were_harmed_stop_the_gate(trained: Path, copy: Callable[[Path], Path]) -> None:
    folder = copy(trained)
    stored(folder, "outputs/out-of-fold.csv").unlink()
    said = refused(invoke(folder, "classify", "train", "synthetic", "--seed", "1"))
    assert "outputs/out-of-fold.csv" in said
    assert rows(folder, "SELECT count(*) FROM model_releases") == [(1,)]


QUICK = Choices(categories=("replication",), parameters=Parameters(replicates=20), seed=5)


def test_a_stop_between_package_and_release_leaves_neither(
    trained: Path, copy: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(trained)

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with open_catalog(folder / "shelf.db", writable=True) as catalog:
        with monkeypatch.context() as patched:
            patched.setattr(Catalog, "record_release", stop)
            with pytest.raises(KeyboardInterrupt):
                train_release(catalog, "synthetic", QUICK, "tester")
        assert rows(folder, "SELECT slug FROM artifacts") == [(RELEASE,)]
        made = train_release(catalog, "synthetic", QUICK, "tester")
        assert made.release.id == "synthetic-r2"
        assert rows(folder, "SELECT slug, version FROM artifacts ORDER BY id") == [
            (RELEASE, 1), ("synthetic-r2", 1),
        ]  # fmt: skip
        # The same labels under another seed are no second round of training.
        assert made.gate is not None
        assert [r.number for r in made.gate.heads[0].rounds] == [2]


def test_verify_computes_the_figures_again(trained: Path, copy: Callable[[Path], Path]) -> None:
    folder = copy(trained)
    run = printed(folder, "verify", RELEASE)
    assert "verified" in json.dumps(run)
    file = stored(folder, "outputs/out-of-fold.csv")
    file.chmod(0o600)
    file.write_text(file.read_text().replace(",1,", ",0,", 1))
    assert invoke(folder, "verify", RELEASE).exit_code == 3


@pytest.mark.parametrize("what", ["labels", "votes", "scores", "calls"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_every_exported_row_carries_its_status(decided: Path, tmp_path: Path, what: str, form: str) -> None:
    to = tmp_path / f"rows.{form}"
    result = invoke(decided, "export", "synthetic", "--what", what, "--as", form, "--to", to)
    assert result.exit_code == 0, result.output
    if form == "csv":
        lines: list[dict[str, Any]] = list(csv.DictReader(to.open()))
    else:
        value = json.loads(to.read_text())
        lines = value if isinstance(value, list) else value["rows"]
    assert lines
    status = {
        "labels": "machine_direct_unvalidated", "votes": "machine_direct_unvalidated",
        "scores": "score_only:v0-immature-baseline", "calls": "machine_predicted_unvalidated",
    }[what]  # fmt: skip
    for line in lines:
        said = line["status"] if "status" in line else line["statuses"]
        unrated = what == "labels" and line["state"] in ("unknown", "unsupported")
        assert said in (status, [status]) or (unrated and not said), line
    assert "human_direct" not in to.read_text()


def test_the_next_batch_is_what_sql_and_a_hash_draw(decided: Path, tmp_path: Path) -> None:
    """Anchors are the first of the pool by SHA-256(seed || id); the rest by the scores that are stored."""
    asked = ("classify", "batch", RELEASE, "--size", "10", "--seed", "3")
    found = printed(decided, *asked, "--to", tmp_path / "next.csv")["batch"]
    pool = [
        w for (w,) in rows(
            decided,
            "SELECT slug FROM works w WHERE slug <> 'synthetic-study' AND NOT EXISTS "
            "(SELECT 1 FROM chunk_works c JOIN rounds r ON r.id = c.round_id "
            "WHERE c.work_id = w.id AND r.study = 'synthetic') ORDER BY slug",
        )
    ]  # fmt: skip
    assert found["pool"] == len(pool) == 400
    picks = {p["id"]: p["reason"] for p in found["batch"]["picks"]}
    assert len(picks) == 10
    assert set(picks) <= set(pool)
    anchors = [w for w, reason in picks.items() if reason == "anchor"]
    assert anchors == sorted(pool, key=lambda w: hashlib.sha256(f"3{w}".encode()).hexdigest())[:2]
    scores = dict(rows(
        decided,
        "SELECT work, group_concat(value, ' ') FROM (SELECT * FROM scores_readable ORDER BY work, head) "
        "WHERE release = ? GROUP BY work", RELEASE,
    ))  # fmt: skip
    apart = {w: abs(float(scores[w].split()[0]) - float(scores[w].split()[1])) for w in pool if w in scores}
    left = sorted((w for w in apart if w not in anchors), key=lambda w: (-apart[w], w))
    assert [w for w, reason in picks.items() if reason == "spread"] == left[:5]
    assert printed(decided, *asked)["batch"] == found
    assert (tmp_path / "next.csv").read_text().splitlines()[0] == "work,reason,place,value"


def test_a_batch_needs_scores_and_calls(trained: Path) -> None:
    result = invoke(trained, "classify", "batch", RELEASE)
    assert result.exit_code == 1
    assert f"release {RELEASE} has no scores yet" in result.output
