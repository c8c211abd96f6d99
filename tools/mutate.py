"""Would a test notice? Change one operator at a time and run the tests that should fail.

    python tools/mutate.py --sample 40 --seed 1            # all groups
    python tools/mutate.py --groups keywords --sample 10

A mutant that no test notices has survived: it is printed with its line, and the exit code is 1. A
source is changed in place and restored, so the working tree must be clean. A mutant in C++ costs a
build; with ccache only the unit of its room is compiled.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAX_SECONDS = 900  # for a build or a run of tests

SWAPS = {
    "<=": "<",
    ">=": ">",
    "<": "<=",
    ">": ">=",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "&&": "||",
    "||": "&&",
    "and": "or",
    "or": "and",
    "not in": "in",
    "true": "false",
    "false": "true",
    "True": "False",
    "False": "True",
}
# Operators stand between spaces, which leaves templates, arrows and signs alone.
_OPERATOR = re.compile(
    r"(?<= )(?:<=|>=|<|>|==|!=|\+|-|&&|\|\||and|or|not in)(?= )|\b(?:true|false|True|False)\b"
)
_SKIPPED = re.compile(r'^\s*(?://|#|"""|\*)|static_assert|^\s*(?:template|import|from)\b')


@dataclass(frozen=True)
class Group:
    """Sources, and the tests that should notice a change of them."""

    sources: tuple[str, ...]
    tests: tuple[str, ...]


_CONTRACT = ("tests/contract/test_matching.py", "tests/contract/test_replay.py")
GROUPS = {
    "keywords": Group(("src/nearcast/keywords.py",), ("tests/unit/test_keywords.py",)),
    "events": Group(
        ("src/nearcast/events.py", "src/nearcast/event_values.py"),
        ("tests/unit/test_events.py", "tests/unit/test_event_values.py"),
    ),
    "semantics": Group(
        (
            "cpp/nearcast/model/semantics.cpp",
            "cpp/nearcast/model/rank_score.cpp",
            "cpp/nearcast/model/margin.cpp",
            "cpp/nearcast/geo/polygon.cpp",
        ),
        (*_CONTRACT, "tests/contract/test_ranking.py", "tests/contract/test_safe_regions.py"),
    ),
    "kernels": Group(("cpp/nearcast/index/ours/sized_lists/kernels.h",), _CONTRACT),
    "life": Group(("cpp/nearcast/life/*.cpp",), ("tests/unit/test_hub.py", _CONTRACT[1])),
}


@dataclass(frozen=True)
class Mutant:
    """One operator of one line, replaced."""

    group: str
    path: Path
    line: int
    start: int
    before: str

    def applied(self, source: str) -> str:
        """Return the source with the change."""
        lines = source.splitlines(keepends=True)
        text = lines[self.line]
        end = self.start + len(self.before)
        lines[self.line] = text[: self.start] + SWAPS[self.before] + text[end:]
        return "".join(lines)

    def __str__(self) -> str:
        """Return where it is and what it changes."""
        text = self.path.read_text(encoding="utf-8").splitlines()[self.line].strip()
        name = self.path.relative_to(ROOT)
        return f"{name}:{self.line + 1}: {self.before} -> {SWAPS[self.before]} in: {text}"


def mutants_of(name: str) -> list[Mutant]:
    """Return every change that can be made to the sources of a group."""
    paths = [path for pattern in GROUPS[name].sources for path in sorted(ROOT.glob(pattern))]
    found = []
    for path in paths:
        in_docstring = False
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            quotes = line.count('"""')
            if not in_docstring and quotes == 0 and not _SKIPPED.search(line):
                code = re.split(r"  ?(?://|#) ", line)[0]
                found += [
                    Mutant(name, path, number, hit.start(), hit[0])
                    for hit in _OPERATOR.finditer(code)
                    if code[: hit.start()].count('"') % 2 == 0
                ]
            in_docstring ^= quotes % 2 == 1
    return found


def run(*command: str) -> bool:
    """Run a command; return whether it succeeded. One that does not end has failed."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, check=False, timeout=MAX_SECONDS
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def is_noticed(mutant: Mutant) -> str | None:
    """Return what noticed the mutant: the compiler or a test; None: nothing."""
    source = mutant.path.read_text(encoding="utf-8")
    is_native = mutant.path.suffix != ".py"
    try:
        mutant.path.write_text(mutant.applied(source), encoding="utf-8")
        if is_native and not run("make", "build"):
            return "compiler"
        tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        return None if run(*tests, *GROUPS[mutant.group].tests) else "test"
    finally:
        mutant.path.write_text(source, encoding="utf-8")


def main() -> int:
    """Try a sample of mutants; print each survivor."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--sample", type=int, default=40, help="mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not run("git", "diff", "--quiet"):
        print("error: the working tree has changes", file=sys.stderr)
        return 2
    pool = [mutant for name in options.groups for mutant in mutants_of(name)]
    sample = random.Random(options.seed).sample(pool, min(options.sample, len(pool)))
    survivors = 0
    for mutant in sorted(sample, key=str):
        noticed_by = is_noticed(mutant)
        survivors += noticed_by is None
        print(f"{noticed_by or 'SURVIVED'}: {mutant}", flush=True)
    if any(mutant.path.suffix != ".py" for mutant in sample):
        run("make", "build")  # of the sources as they are
    print(f"{len(sample)} of {len(pool)} mutants, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
