"""CPU time of hashing: SHA-256 and git blob SHA-1 in one pass, against `sha256sum` (SHA-256 alone).

    python benchmarks/hashing.py [--rounds 5] [--small] [--json]

Makes 5,000 files of 137 MB in all, and 16 files of 1 GB, then measures both in turn, so that a busy
machine disturbs both alike. CPU time is user and system time of the whole child process. Reported is
the median of the rounds, with the start of Python and without it (an empty run subtracted).
"""

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HASH_ALL = """
import os, sys
from artifacts.hashing import hash_files
with open(sys.argv[1], "rb") as names:
    paths = names.read().split(b"\\0")[:-1]
out = []
for path, digest in zip(paths, hash_files(paths)):
    hashes = digest.sha256.encode(), digest.git_blob_sha1.encode()
    out.append(b"%s %s %d  %s\\n" % (*hashes, digest.bytes, path))
os.write(1, b"".join(out))
"""


def make_files(folder: Path, count: int, total: int) -> list[Path]:
    """Files of random length around the mean (equal ones when few), in folders of 100."""
    chance = random.Random(0)
    block = chance.randbytes(1 << 20)
    weights = [chance.expovariate(1) + 0.05 if count > 100 else 1 for _ in range(count)]
    paths = []
    for number, weight in enumerate(weights):
        path = folder / f"{number // 100:03d}" / f"{number:05d}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        left = int(total * weight / sum(weights))
        with path.open("wb") as stream:
            stream.write(number.to_bytes(8, "big"))
            while left > 8:
                piece = block[: min(left - 8, len(block))]
                stream.write(piece)
                left -= len(piece)
        paths.append(path)
    return paths


def cpu_seconds(argv: list[str], stdin: Path | None = None) -> float:
    """User and system time of one child with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": ""}
    with open(stdin or os.devnull, "rb") as stream:
        subprocess.run(argv, stdin=stream, stdout=subprocess.DEVNULL, env=environment, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(paths: list[Path], names: Path, rounds: int) -> dict[str, float]:
    """Medians of interleaved rounds."""
    names.write_bytes(b"".join(os.fsencode(p) + b"\0" for p in paths))
    empty = names.with_suffix(".empty")
    empty.write_bytes(b"")
    ours_argv = [sys.executable, "-c", HASH_ALL]
    theirs_argv = ["xargs", "-0", "-n", "100000", "sha256sum"]
    ours, theirs, start = [], [], []
    for _ in range(rounds + 1):
        theirs.append(cpu_seconds(theirs_argv, names))
        ours.append(cpu_seconds([*ours_argv, str(names)]))
        start.append(cpu_seconds([*ours_argv, str(empty)]))
    median = {
        k: statistics.median(v[1:]) for k, v in {"ours": ours, "theirs": theirs, "start": start}.items()
    }
    return {
        "proofshelf_s": round(median["ours"], 3),
        "proofshelf_without_start_s": round(median["ours"] - median["start"], 3),
        "sha256sum_s": round(median["theirs"], 3),
        "ratio": round(median["ours"] / median["theirs"], 3),
        "ratio_without_start": round((median["ours"] - median["start"]) / median["theirs"], 3),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="a tenth of the bytes and files")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    scale = 10 if options.small else 1
    results = {}
    with tempfile.TemporaryDirectory(prefix="proofshelf-bench-") as name:
        folder = Path(name)
        for label, count, total in (
            ("many small files", 5000 // scale, 137_000_000 // scale),
            ("few large files", 16, (1 << 30) // scale),
        ):
            paths = make_files(folder / label.split()[0], count, total)
            size = sum(p.stat().st_size for p in paths)
            results[label] = {
                "files": len(paths),
                "bytes": size,
                **measure(paths, folder / "names", options.rounds),
            }
    if options.json:
        print(json.dumps(results, indent=2))
        return
    for label, result in results.items():
        print(
            f"{label} ({result['files']:,} of {result['bytes'] / 1e6:,.0f} MB): proofshelf, two hashes "
            f"{result['proofshelf_s']:.2f} s ({result['proofshelf_without_start_s']:.2f} without start); "
            f"sha256sum {result['sha256sum_s']:.2f} s; ratio {result['ratio']:.2f} "
            f"({result['ratio_without_start']:.2f} without start)"
        )


if __name__ == "__main__":
    main()
