"""Releases: what is loaded is what was saved, to the byte, and anything else is refused in a sentence."""

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import classifiers
from classifiers.errors import ClassifierError
from classifiers.features import Document
from classifiers.release import code_sha256, load, save
from classifiers.release.archive import read_arrays, write_arrays
from classifiers.release.store import source_sha256
from classifiers.student import HeadName, Parameters, train
from classifiers.student.packing import array_sha256
from schema.base import canonical_json


def study():
    rng = np.random.default_rng(0)
    y = rng.random(120) < 0.4
    documents = [
        Document(
            id=f"r{i:03d}",
            title=" ".join(f"w{k}" for k in rng.zipf(1.4, size=8) % 40) + (" signal" if y[i] else ""),
            abstract="An abstract of été",
            venue=f"V{i % 30}",
            topics=("t1", "t2"),
            year=2000 + i % 9,
        )
        for i in range(120)
    ]
    labels = {HeadName("a", "one"): y, HeadName("b", "one"): rng.permutation(y)}
    return documents, labels | {HeadName("b", "none"): np.zeros(120)}


@cache
def student():
    use = ("title", "abstract", "venue", "topics", "year")
    documents, labels = study()
    return train(documents, labels, parameters=Parameters(use, folds=3, replicates=20), seed=3)


@pytest.fixture
def folder(tmp_path):
    save(student(), tmp_path / "release")
    return tmp_path / "release"


def forge(folder, change):
    """Change record and arrays, and make every hash right again, as somebody who writes their own would."""
    record = json.loads((folder / "release.json").read_bytes())
    content = record["content"]
    arrays = {n: read_arrays((folder / n).read_bytes(), n, 1 << 30) for n in ("model.npz", "out_of_fold.npz")}
    change(content, arrays["model.npz"], arrays["out_of_fold.npz"])
    for name, of_file in arrays.items():
        data = write_arrays(of_file)
        (folder / name).write_bytes(data)
        content["arrays"][name] = {n: array_sha256(a) for n, a in of_file.items()}
        content["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    seal(folder, content)


def seal(folder, content):
    version = hashlib.sha256(canonical_json(content)).hexdigest()
    (folder / "release.json").write_bytes(canonical_json({"content": content, "version": version}) + b"\n")


def replace(folder, name, data):
    """Another file with the right hash in the record."""
    (folder / name).write_bytes(data)
    content = json.loads((folder / "release.json").read_bytes())["content"]
    content["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    seal(folder, content)


def test_what_is_loaded_scores_to_the_same_bytes(folder):
    documents, _ = study()
    frame = [*documents, Document("x", "never seen", None, "V1"), Document("y")]
    before, after = student().model.score(frame), load(folder).model.score(frame)
    assert before.states == after.states
    assert before.log_odds.tobytes() == after.log_odds.tobytes()
    assert before.probability.tobytes() == after.probability.tobytes()


def test_the_evidence_comes_back(folder):
    release = load(folder)
    table, loaded = student().out_of_fold, release.out_of_fold
    assert loaded.ids == table.ids
    assert loaded.status == "out_of_fold_teacher_fidelity"
    for name in ("fold", "weights", "labels", "log_odds", "probability", "nested"):
        assert np.array_equal(getattr(table, name), getattr(loaded, name), equal_nan=name != "fold")
    heads = {(h.side, h.category): h for h in release.content.heads}
    assert heads["b", "none"].availability == "insufficient_support"
    assert heads["b", "none"].calibration is None
    assert release.model.heads == (HeadName("a", "one"), HeadName("b", "one"))
    assert heads["a", "one"].calibration["status"] == "available"
    assert heads["a", "one"].counts.positives == int(student().heads[0].counts.positives)
    assert release.content.inputs_sha256 == student().inputs_sha256
    assert release.same_code
    assert release.content.code_sha256 == code_sha256()


def test_the_version_is_the_hash_of_the_content(folder):
    # By the definition, with nothing but the standard library.
    record = json.loads((folder / "release.json").read_bytes())
    canonical = json.dumps(
        record["content"], sort_keys=True, separators=(",", ":"), ensure_ascii=False
    ).encode()
    assert record["version"] == hashlib.sha256(canonical).hexdigest() == load(folder).version
    for name, file in record["content"]["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == file["sha256"]


def test_numpy_reads_the_arrays_without_pickle(folder):
    with np.load(folder / "model.npz", allow_pickle=False) as arrays:
        assert arrays["coef"].tobytes() == student().linear.coef.tobytes()


def test_the_same_inputs_give_the_same_bytes_in_other_processes(tmp_path):
    # Hash seeds decide the order of sets; nothing of it may reach a file.
    versions = []
    for seed in ("1", "2"):
        target = tmp_path / f"release-{seed}"
        run = subprocess.run(
            [sys.executable, __file__, str(target)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        )
        versions.append(run.stdout.strip())
    assert versions[0] == versions[1]
    for name in ("release.json", "model.npz", "out_of_fold.npz"):
        assert (tmp_path / "release-1" / name).read_bytes() == (tmp_path / "release-2" / name).read_bytes()
    assert load(tmp_path / "release-1").version == versions[0]


def test_seed_parameters_labels_and_maturity_are_in_the_version(tmp_path):
    documents, labels = study()
    short = Parameters(folds=3, replicates=20)
    other_labels = labels | {HeadName("b", "none"): np.where(np.arange(120) == 5, np.nan, 0)}
    students = [
        train(documents, labels, parameters=short, seed=1),
        train(documents, labels, parameters=short, seed=2),
        train(documents, labels, parameters=Parameters(folds=3, replicates=20, C=1.0), seed=1),
        train(documents, other_labels, parameters=short, seed=1),
    ]
    versions = [save(s, tmp_path / str(i)).version for i, s in enumerate(students)]
    versions.append(save(students[0], tmp_path / "mature", maturity="passed").version)
    assert len(set(versions)) == 5
    assert save(students[0], tmp_path / "again").version == versions[0]


@pytest.mark.parametrize(
    ("maturity", "status"),
    [
        ("unknown", "score_only:v0-immature-baseline"),
        ("not_passed", "score_only:v0-immature-baseline"),
        ("passed", "score_only:mature"),
    ],
)
def test_scores_are_immature_until_the_gate_passes(tmp_path, maturity, status):
    save(student(), tmp_path / "r", maturity=maturity)
    assert load(tmp_path / "r").status == status


def test_a_release_is_never_overwritten_and_leaves_nothing_beside_it(folder):
    before = (folder / "release.json").read_bytes()
    with pytest.raises(ClassifierError, match="is there already; a release is never overwritten"):
        save(student(), folder)
    assert (folder / "release.json").read_bytes() == before
    assert [p.name for p in folder.parent.iterdir()] == ["release"]


def test_another_version_than_expected_is_refused(folder):
    version = load(folder).version
    assert load(folder, version=version).version == version
    with pytest.raises(ClassifierError, match=f"holds version {version}; expected 0000"):
        load(folder, version="0" * 64)


@pytest.mark.parametrize("name", ["release.json", "model.npz", "out_of_fold.npz"])
@pytest.mark.parametrize("where", [0.02, 0.3, 0.6, 0.98])
def test_any_changed_byte_is_found(folder, name, where):
    data = bytearray((folder / name).read_bytes())
    data[int(where * len(data))] ^= 1
    (folder / name).write_bytes(data)
    with pytest.raises(
        ClassifierError,
        match=f"^{name}: (was changed since it was saved|isn't JSON|isn't a release|has the format)",
    ):
        load(folder)


@pytest.mark.parametrize("name", ["model.npz", "out_of_fold.npz"])
def test_a_truncated_file_is_named(folder, name):
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data[:-100])
    with pytest.raises(
        ClassifierError, match=f"{name}: is truncated to {len(data) - 100:,} of {len(data):,} bytes"
    ):
        load(folder)


@pytest.mark.parametrize("name", ["release.json", "model.npz", "out_of_fold.npz"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(ClassifierError, match=f"{name} is missing from"):
        load(folder)


def test_no_folder_is_no_release(tmp_path):
    with pytest.raises(ClassifierError, match="isn't a folder with a release"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "isn't JSON"),
        (b"\xff\xfe", "isn't JSON"),
        (b"[1]", "isn't a release"),
        (b'{"version":"x","content":{"format":NaN}}', "isn't JSON"),
        (
            b'{"version":"x","content":{"format":"proofshelf-student/9"}}',
            "has the format 'proofshelf-student/9'",
        ),
        (b"[" * 100_000, "isn't JSON"),
    ],
)
def test_a_record_that_is_none_is_refused(folder, text, sentence):
    (folder / "release.json").write_bytes(text)
    with pytest.raises(ClassifierError, match=f"release.json: {sentence}"):
        load(folder)


def test_a_record_in_another_form_of_the_same_json_is_refused(folder):
    # One byte form, so that one version has one file.
    record = json.loads((folder / "release.json").read_bytes())
    (folder / "release.json").write_text(json.dumps(record, indent=1))
    with pytest.raises(ClassifierError, match="was changed since it was saved"):
        load(folder)


def _put(name, value):
    def change(content, model, table):
        model[name] = value(model[name])

    return change


def _content(path, value):
    def change(content, model, table):
        for key in path[:-1]:
            content = content[key]
        content[path[-1]] = value

    return change


HUGE = {
    "method": "temperature",
    "version": 1,
    "scale": "log_odds",
    "parameters": {"inverse_temperature": 10**400},
}


def _drop(content, model, table):
    del model["idf"]


def _table(name, value):
    def change(content, model, table):
        table[name] = value(table[name])

    return change


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            _put("coef", lambda a: a.astype("<f4")),
            "model.npz: 'coef.npy' isn't a plain .npy array of numbers",
        ),
        (
            _put("coef", lambda a: a.astype("<i8")),
            "model.npz: the array 'coef' has the type <i8; expected <f8",
        ),
        (_put("coef", lambda a: a[:, :1]), r"model.npz: the array 'coef' has the shape \(.*, 1\)"),
        (_put("coef", lambda a: a[:-1]), r"model.npz: the array 'coef' has the shape"),
        (_put("coef", lambda a: a[0]), r"model.npz: the array 'coef' has the shape \(2,\)"),
        (_put("coef", lambda a: a * np.nan), "model.npz: the array 'coef' holds a number that isn't finite"),
        (_put("idf", lambda a: a[:-1]), "model.npz: the array 'idf' has the shape"),
        (_put("intercept", lambda a: a[None]), "model.npz: the array 'intercept' has the shape"),
        (_put("keys", lambda a: a + 10**6), "model.npz: the array 'keys' names a token that isn't there"),
        (_put("keys", lambda a: a - 10**6), "model.npz: the array 'keys' names a token that isn't there"),
        (_put("keys", lambda a: a[[0] * len(a)]), "model.npz: the array 'keys' names a term twice"),
        (_put("token_ends", lambda a: a + 1), "model.npz: the array 'tokens' isn't cut"),
        (_put("token_ends", lambda a: a[::-1].copy()), "model.npz: the array 'tokens' isn't cut"),
        (_put("tokens", lambda a: a[::-1].copy()), "model.npz: the array 'tokens' isn't (sorted|UTF-8)"),
        (_put("tokens", lambda a: a | 0x80), "model.npz: the array 'tokens' isn't UTF-8"),
        (_drop, "model.npz: the array 'idf' is missing"),
        (_content(("model", "heads"), [["a", "one"]]), "model.npz: the array 'coef' has the shape"),
        (_content(("model", "calibrators"), []), "model.npz: there are 0 calibrators"),
        (
            _content(("model", "calibrators"), [{"method": "magic"}, None]),
            "model.npz: a stored calibrator lacks",
        ),
        (
            _content(("model", "calibrators"), [HUGE, None]),
            "model.npz: a stored temperature calibrator can't be used: inverse_temperature is 1000",
        ),
        (_content(("model", "features", "use"), ["colour"]), "model.npz: 'colour' is not a feature"),
        (
            _content(("model", "features", "min_df"), 0),
            "release.json: model.features.min_df: input should be",
        ),
        (_content(("status",), "validated"), "release.json: status: input should be"),
        (_content(("extra",), 1), "release.json: extra: extra inputs are not permitted"),
        (_table("fold", lambda a: a[:-1]), "out_of_fold.npz: the array 'fold' has the shape"),
        (_table("nested", lambda a: a[:2]), "out_of_fold.npz: the array 'nested' has the shape"),
        (_table("labels", lambda a: a.astype("<i8")), "out_of_fold.npz: the array 'labels' has the type"),
    ],
)
def test_a_release_that_was_made_to_look_right_is_refused(folder, change, sentence):
    # Every hash is right, so only what the arrays hold can tell.
    forge(folder, change)
    with pytest.raises(ClassifierError, match=f"^{sentence}"):
        load(folder)


def test_an_array_of_another_hash_than_listed_is_refused(folder):
    content = json.loads((folder / "release.json").read_bytes())["content"]
    content["arrays"]["model.npz"]["idf"] = "0" * 64
    seal(folder, content)
    with pytest.raises(ClassifierError, match=r"model.npz: its arrays aren't those that release.json lists"):
        load(folder)


class Bomb:
    """Would run when it is unpickled."""

    def __reduce__(self):
        return pytest.fail, ("a pickle was loaded",)


def _npz(compression=zipfile.ZIP_STORED, **files):
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", compression) as archive:
        for name, data in files.items():
            archive.writestr(f"{name}.npy", data)
    return whole.getvalue()


def _npy(array, **options):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **options)
    return file.getvalue()


def _promising(shape):
    """An array whose header promises what isn't there."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue() + b"\0" * 64


PLAIN = "'coef.npy' isn't a plain .npy array of numbers in C order"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (_npz(coef=_npy(np.array([Bomb()], object), allow_pickle=True)), PLAIN),
        (_npz(zipfile.ZIP_DEFLATED, coef=_npy(np.zeros(10**6))), "'coef.npy' is compressed"),
        (_npz(coef=_promising((10**15,))), "promises 8,000,000,000,000,000 bytes of numbers, but holds 64"),
        (_npz(coef=_promising((2**62, 2**62))), "promises .* bytes of numbers, but holds 64"),
        (_npz(coef=_npy(np.zeros((2, 3), order="F"))), PLAIN),
        (_npz(coef=_npy(np.zeros(2, [("a", "<f8")]))), PLAIN),
        (_npz(coef=_npy(np.zeros(2), version=(2, 0))), PLAIN),
        (_npz(coef=b"no array"), PLAIN),
        (_npz(coef=b"\x93NUMPY\x01\x00\x10\x00(((((((((((((((("), PLAIN),
        (b"PK\x03\x04 no zip", "isn't a complete .npz file"),
        (b"", "isn't a complete .npz file"),
    ],
)  # fmt: skip
def test_an_archive_by_a_stranger_is_read_with_care(folder, data, sentence):
    replace(folder, "model.npz", data)
    with pytest.raises(ClassifierError, match=f"model.npz: .*{sentence}"):
        load(folder)


def test_an_entry_twice_is_refused():
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a.npy", _npy(np.zeros(1)))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.npy", _npy(np.ones(1)))
    with pytest.raises(ClassifierError, match=r"x.npz: holds 'a.npy' twice"):
        read_arrays(whole.getvalue(), "x.npz", 1 << 20)


def test_more_bytes_than_the_limit_are_not_read(folder):
    with pytest.raises(ClassifierError, match=r"release.json: has .* bytes, more than the limit of 100"):
        load(folder, limit=100)
    size = (folder / "release.json").stat().st_size
    with pytest.raises(ClassifierError, match=r"holds more than .* bytes, which is the limit"):
        load(folder, limit=size)
    with pytest.raises(ClassifierError, match=r"x.npz: holds more than 80 bytes of arrays"):
        read_arrays(write_arrays({"a": np.zeros(100)}), "x.npz", 80)


def test_arrays_come_back_as_they_were_and_dates_are_not_in_the_bytes():
    arrays = {"b": np.arange(6.0).reshape(2, 3), "a": np.array([], np.int64), "c": np.zeros((0, 3))}
    data = write_arrays(arrays)
    found = read_arrays(data, "x.npz", 1 << 20)
    assert sorted(found) == ["a", "b", "c"]
    for name, array in arrays.items():
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].tobytes() == array.tobytes()
    assert write_arrays(dict(reversed(arrays.items()))) == data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_code_that_changed_is_another_version(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "a.py").write_bytes(b"x = 1\n")
    (tmp_path / "inner" / "b.py").write_bytes(b"")
    (tmp_path / "a.txt").write_bytes(b"")
    hashes = [source_sha256(tmp_path)]
    # By the definition: canonical JSON of [path, SHA-256] in the order of the paths.
    told = [[n, hashlib.sha256((tmp_path / n).read_bytes()).hexdigest()] for n in ("a.py", "inner/b.py")]
    assert hashes[0] == hashlib.sha256(json.dumps(told, separators=(",", ":")).encode()).hexdigest()
    (tmp_path / "a.py").write_bytes(b"x = 2\n")
    hashes.append(source_sha256(tmp_path))
    (tmp_path / "a.py").rename(tmp_path / "c.py")
    hashes.append(source_sha256(tmp_path))
    (tmp_path / "a.txt").write_bytes(b"no source")
    assert source_sha256(tmp_path) == hashes[-1]
    assert len(set(hashes)) == 3
    assert code_sha256() == source_sha256(Path(classifiers.__file__).parent)


if __name__ == "__main__":  # what a test above runs in a process of its own
    print(save(student(), Path(sys.argv[1])).version)
