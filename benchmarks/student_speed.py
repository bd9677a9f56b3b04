"""How fast does a student score and learn, against its own text vectoriser and scikit-learn's?

    python benchmarks/student_speed.py [--records N] [--labelled N] [--jobs N] [--json]

Texts are synthetic, from a seeded generator: a Zipf vocabulary of 60,000 words, titles of 12 words and
abstracts of 150, each with words of its topic. Each measurement runs in a process of its own, and counts
the CPU seconds of that process and of its workers, so that a busy machine slows all alike.

Scoring: 9 categories x 2 sides, calibrated, `--records` records through `--jobs` processes, against the
same records through the vectoriser alone and the same processes; then four times as many, for memory.
Training: `--labelled` records, 9 x 2 heads, 16 models each, with calibration, thresholds and intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # one thread in each process, on all sides

import numpy as np  # noqa: E402  (reads the variables above)

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from joblib import Parallel, delayed  # noqa: E402
from joblib.externals.loky import get_reusable_executor  # noqa: E402

from classifiers.calibrators import calibrator  # noqa: E402
from classifiers.features import Coverage, Document, Features, batches  # noqa: E402
from classifiers.linear import LogisticRegression  # noqa: E402
from classifiers.release.archive import read_arrays, write_arrays  # noqa: E402
from classifiers.student import HeadName, LinearHeads, Model, score_frame, train  # noqa: E402
from classifiers.student.packing import Packed, assemble, pack, unpack  # noqa: E402

VOCABULARY, TOPICS, TOPIC_WORDS = 60_000, 40, 300
RATES = {
    "metaresearch": 0.13, "metaepi_narrow": 0.008, "metaepi_broad": 0.02, "bibliometrics": 0.06,
    "sts": 0.03, "scholarly_communication": 0.05, "open_science": 0.04, "research_integrity": 0.03,
    "insufficient_payload": 0.015,
}  # fmt: skip
SIDES = ("a", "b")
DISTINCT = 5_000
"""Records generated; a frame repeats them, so that generating isn't what is measured."""


def records(n: int, seed: int) -> tuple[list[Document], np.ndarray]:
    """Documents and the topic (n,) of each."""
    rng = np.random.default_rng(seed)
    rank = np.arange(1, VOCABULARY + 1)
    weight = 1 / (rank + 2.7) ** 1.05
    cdf = np.cumsum(weight) / weight.sum()
    spelling = np.random.default_rng(0)  # the language is the same for every seed
    lengths = np.clip((2 + np.log(rank) + 1.5 * spelling.normal(size=VOCABULARY)).astype(int), 1, 16)
    letters = list("abcdefghijklmnopqrstuvwxyz")
    words = np.array(["".join(spelling.choice(letters, size=k)) for k in lengths], dtype=object)
    topics = rng.integers(TOPICS, size=n)
    documents = []
    for i in range(n):
        length = int(np.clip(rng.normal(150, 50), 20, 400)) + 12
        drawn = np.searchsorted(cdf, rng.random(length))
        own = rng.random(length) < 0.15
        drawn[own] = 500 + topics[i] * TOPIC_WORDS + drawn[own] % TOPIC_WORDS
        text = words[drawn]
        venue = None if rng.random() < 0.1 else f"Venue {int(rng.zipf(1.3)) % 3000}"
        documents.append(Document(f"w{i:07d}", " ".join(text[:12]), " ".join(text[12:]), venue))
    return documents, topics


def labels(topics: np.ndarray, seed: int) -> dict[HeadName, np.ndarray]:
    """Noisy labels of 9 categories by 2 sides, 1 % unknown."""
    rng = np.random.default_rng([seed, 1])
    found = {}
    for c, (category, rate) in enumerate(RATES.items()):
        of_topic = (topics == (4 * c) % TOPICS) | ((topics == (4 * c + 1) % TOPICS) & (rate > 0.05))
        inside = np.minimum(0.9, rate * 0.6 * TOPICS / (2 if rate > 0.05 else 1))
        for side in SIDES:
            y = (rng.random(len(topics)) < np.where(of_topic, inside, 0.4 * rate)).astype(float)
            y[rng.random(len(topics)) < 0.01] = np.nan
            found[HeadName(side, category)] = y
    return found


def fitted() -> Model:
    """9 x 2 heads with the vocabulary of 10,000 records, to be scored with."""
    documents, topics = records(10_000, 1)
    features = Features()
    matrix = features.fit_transform(documents)
    heads, fits, calibrators = [], [], []
    for name, y in labels(topics, 1).items():
        known = ~np.isnan(y)
        fit = LogisticRegression(1.0, tol=1e-6).fit(matrix[known], y[known])
        heads.append(name)
        fits.append(fit)
        calibrators.append(calibrator("beta").fit(fit.decision_function(matrix[known]), y[known]))
    linear = LinearHeads(
        features, np.column_stack([fit.coef_ for fit in fits]), np.array([fit.intercept_ for fit in fits])
    )
    return Model(tuple(heads), linear, tuple(calibrators))


def _vectorise(packed: Packed, part: list[Document]) -> int:
    return int(unpack(packed).linear.features.transform(part).nnz)


def vectorise(model: Model, frame: Iterator[Document], jobs: int) -> int:
    """The vectoriser alone, through the same processes in the same batches."""
    packed, total = pack(model), 0
    with Parallel(n_jobs=jobs, batch_size=1, pre_dispatch="all") as parallel:
        parts = batches(frame, 1000)
        while wave := list(islice(parts, 8 * jobs)):
            total += sum(parallel(delayed(_vectorise)(packed, part) for part in wave))
    return total


def score(model: Model, frame: Iterator[Document], jobs: int) -> int:
    """All heads with calibration."""
    coverage = Coverage(1, {"title": 1, "abstract": 1})
    return sum(s.log_odds.size for s in score_frame(model, frame, coverage, jobs=jobs))


def peer(frame: Iterator[Document]) -> int:
    """scikit-learn's vectoriser with the same words and weights, in one process."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"{d.title} {d.abstract}" for d in frame]
    vectoriser = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit(texts)
    start = time.process_time()
    vectoriser.transform(texts)
    return round((time.process_time() - start) * 1e9)


def measured(work: Callable[[], Any]) -> dict[str, Any]:
    """Wall and CPU seconds with those of the workers, and the peak memory of each, in MB."""
    wall, cpu = time.monotonic(), time.process_time()
    result = work()
    get_reusable_executor().shutdown(wait=True)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall": time.monotonic() - wall,
        "cpu": time.process_time() - cpu + workers.ru_utime + workers.ru_stime,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_worker_mb": workers.ru_maxrss / 1024,
        "result": result,
    }


def child(arguments: argparse.Namespace) -> None:
    """One measurement; its JSON goes to standard output."""
    what, jobs = arguments.child, arguments.jobs
    if what == "train":
        documents, topics = records(arguments.labelled, 5)
        known = labels(topics, 5)
        weights = 300 * np.exp(np.random.default_rng(6).normal(size=len(documents), scale=0.8))

        def learn() -> list[str]:
            student = train(documents, known, weights, seed=1, jobs=jobs)
            return [head.availability for head in student.heads]

        print(json.dumps(measured(learn)))
        return
    distinct, _ = records(DISTINCT, 2)
    frame = islice(cycle(distinct), arguments.records)
    if what == "peer":
        print(json.dumps(peer(frame)))
        return
    stored = json.loads((arguments.model / "text.json").read_bytes())
    model = assemble(
        read_arrays((arguments.model / "arrays.npz").read_bytes(), "arrays.npz", 1 << 30), stored
    )
    side = score if what == "score" else vectorise
    list(score_frame(model, distinct[:2000], Coverage(1, {"title": 1, "abstract": 1}), jobs=jobs, size=500))
    start = workers_cpu(jobs)
    found = measured(lambda: side(model, frame, jobs))
    print(json.dumps(found | {"cpu": found["cpu"] - start}))


def workers_cpu(jobs: int) -> float:
    """CPU seconds that the workers took to start and to build the model, which each does once."""
    if jobs == 1:
        return 0.0
    pids = Parallel(n_jobs=jobs, batch_size=1)(delayed(_slow_pid)() for _ in range(4 * jobs))
    return sum(dict(pids).values())


def _slow_pid() -> tuple[int, float]:
    time.sleep(0.05)  # so that each worker takes some
    return os.getpid(), time.process_time()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--labelled", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", choices=("score", "vectorise", "peer", "train"), help=argparse.SUPPRESS)
    parser.add_argument("--model", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        packed = pack(fitted())
        (Path(folder) / "arrays.npz").write_bytes(write_arrays(packed.arrays))
        (Path(folder) / "text.json").write_bytes(packed.text.tobytes())

        def run(what: str, records: int = arguments.records, jobs: int = arguments.jobs) -> Any:
            command = [sys.executable, __file__, "--child", what, "--model", folder, "--jobs", str(jobs)]
            command += ["--records", str(records), "--labelled", str(arguments.labelled)]
            return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

        rounds = [(run("vectorise"), run("score")) for _ in range(3)]
        alone, scored = (min((r[i] for r in rounds), key=lambda m: m["cpu"]) for i in (0, 1))
        result = {
            "vectoriser": alone,
            "scoring": scored,
            "ratio": alone["cpu"] / scored["cpu"],
            "four_times": run("score", 4 * arguments.records),
            "peer_microseconds": run("peer", DISTINCT) / 1e3 / DISTINCT,
            "training": run("train"),
        }
    if arguments.json:
        print(json.dumps(result, indent=2, sort_keys=True))
        return
    report(result, arguments)


def report(result: dict[str, Any], arguments: argparse.Namespace) -> None:
    """For a reader."""
    n, jobs = arguments.records, arguments.jobs
    print(f"{f'{n:,} records, {jobs} processes':36}{'CPU s':>8}{'wall s':>8}{'us each':>9}")
    for name, title in (("vectoriser", "our vectoriser alone"), ("scoring", "9 x 2 heads, calibrated")):
        m = result[name]
        print(f"{title:36}{m['cpu']:8.2f}{m['wall']:8.2f}{m['cpu'] / n * 1e6:9.1f}")
    print(f"{'TfidfVectorizer alone, 1 process':36}{'':16}{result['peer_microseconds']:9.1f}")
    print(f"scoring reaches {result['ratio']:.0%} of the vectoriser's speed (to be 80 % or more)")
    for m, size in ((result["scoring"], n), (result["four_times"], 4 * n)):
        print(f"peak memory at {size:,}: {m['peak_mb']:.0f} MB, each worker {m['peak_worker_mb']:.0f} MB")
    m = result["training"]
    heads = f"{m['result'].count('available')} of {len(m['result'])}"
    print(
        f"training on {arguments.labelled:,} records, {heads} heads available: {m['cpu']:.0f} s of CPU,"
        f" {m['wall']:.0f} s of wall clock (to be under 180);"
        f" peak memory {m['peak_mb']:.0f} MB, each worker {m['peak_worker_mb']:.0f} MB"
    )


if __name__ == "__main__":
    main()
