"""Run the console blocks of a Markdown file and renew the output that they show.

A block opened with ```console holds commands after `$ ` and what they print; one opened with, say,
```csv title=NAME is a file to write. All run in order in one empty folder, so the transcript is a
session that a reader can repeat. What differs from run to run (times, hashes that hold a time, the last
digits of a number) is compared after `normalise`; a hash of the same bytes is compared as it stands.

    python docs/transcript.py README.md           renews the file
    python docs/transcript.py --check README.md   exits with 1 if it no longer tells the truth
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"^```\w+ title=(?P<name>[\w./-]+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
# The chain's head, a written export and a run of calls: over times, or over the last digits of numbers.
TIMED_HASH = r"(\bhead |^Wrote .*sha256 |-calls-)[0-9a-f]{7,64}\b"
ROOT = Path(__file__).resolve().parents[1]


def commands(block: str) -> list[str]:
    """The commands of a block; a line that ends with a backslash goes on in the next."""
    joined = block.replace("\\\n", "\\\0")
    return [line[2:].replace("\\\0", "\\\n") for line in joined.splitlines() if line.startswith("$ ")]


def run(command: str, folder: Path) -> str:
    """What the command prints, both streams in the order in which they came."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PROOFSHELF_WHO": "you",
        "LLM_USER_PATH": str(folder / ".llm"),  # the keys and aliases of whoever runs this stay out of it
    }
    environment.pop("PROOFSHELF_DB", None)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    text = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    if done.returncode and not command.rstrip().endswith("; echo $?"):
        text += f"\n(exit {done.returncode})"
    return text.strip("\n")


def renew(markdown: str) -> str:
    """The same text with the output of every console block as it really appears now."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pieces, position = [], 0
        for match in sorted([*BLOCK.finditer(markdown), *FILE.finditer(markdown)], key=lambda m: m.start()):
            pieces.append(markdown[position : match.start()])
            position = match.end()
            if match.re is FILE:
                target = folder / match["name"]
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(match["text"], encoding="utf-8")
                pieces.append(match[0])
                continue
            shown = []
            for command in commands(match[1]):
                output = run(command, folder)
                shown.append(f"$ {command}\n{output}" if output else f"$ {command}")
            pieces.append("```console\n" + "\n".join(shown) + "\n```")
        pieces.append(markdown[position:])
    return "".join(pieces)


def normalise(text: str) -> str:
    """What has to stay the same: times, hashes over them, durations, digits past the ninth are taken out."""
    text = re.sub(r"\b\d{8}T\d{6}Z\b", "TIME", text)
    text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?", "TIME", text)
    text = re.sub(r"\b\d{1,2} [A-Z][a-z]{2} \d{4}(, \d\d:\d\d( UTC)?)?", "TIME", text)
    text = re.sub(TIMED_HASH, r"\1HASH", text, flags=re.MULTILINE)
    text = re.sub(r"\b\d+(\.\d+)? ?(s|ms)\b", "DURATION", text)
    text = re.sub(r"(\d+\.\d{9})\d+", r"\1", text)
    text = re.sub(r"[−+-]?\d(\.\d+)?( ?[×x] ?10[⁻⁰¹²³⁴-⁹-]+|e-\d\d)", "TINY", text)
    text = re.sub(r"[ \t]+", " ", text)
    return re.sub(r" ?[-─━]{3,} ?", "RULE", text)


def main(arguments: list[str]) -> int:
    """Renew or check each file."""
    check = "--check" in arguments
    if shutil.which("proofshelf", path=str(Path(sys.executable).parent)) is None:
        print(f"{sys.executable} has no proofshelf beside it; use the Python of its environment")
        return 2
    wrong = 0
    for name in (a for a in arguments if not a.startswith("--")):
        path = Path(name)
        before = path.read_text(encoding="utf-8")
        after = renew(before)
        if check and normalise(before) != normalise(after):
            print(f"{name}: a transcript no longer shows what the commands print")
            wrong += 1
        elif not check and normalise(before) != normalise(after):
            path.write_text(after, encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
