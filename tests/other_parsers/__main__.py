"""Compares readings of days: `python -m tests.other_parsers PYTHON`, of an environment that has the parsers.

Fails if a kind of difference has no judgement in `judged.toml`, and if a judgement says that Placet is wrong.
What another parser does not read, and Placet does, is counted and needs no judgement.
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Literal

import msgspec

from daemon.dates.grammar import day_readings
from tests.other_parsers.phrases import TODAY, Phrase, phrases

_FOLDER = Path(__file__).parent
EXAMPLES_MAX = 3
How = Literal["differs", "silent", "several"]


class Judgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is right where readings differ in this way; an empty list of languages or families means all."""

    parser: str
    how: How
    right: Literal["placet", "theirs", "either"]
    why: str
    languages: tuple[str, ...] = ()
    families: tuple[str, ...] = ()

    def is_about(self, parser: str, phrase: Phrase, how: How) -> bool:
        """Return whether a difference is of this kind."""
        return (
            (self.parser, self.how) == (parser, how)
            and (not self.languages or phrase.language in self.languages)
            and (not self.families or phrase.family in self.families)
        )


class Judgements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All judgements; the first that is about a difference counts."""

    kind: tuple[Judgement, ...]


def _foreign_readings(python: str, all_phrases: list[Phrase]) -> list[dict[str, str | None]]:
    lines = "".join(f"{json.dumps([phrase.language, phrase.text])}\n" for phrase in all_phrases)
    command = [python, str(_FOLDER / "foreign_readers.py")]
    answer = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def _difference(own: set[str], other: str) -> How | None:
    if not own:
        return "silent"
    if len(own) > 1:
        return "several"
    return None if own == {other} else "differs"


def main(python: str) -> int:
    """Print how often the readings agree and each kind of difference; return 1 if one is left to judge."""
    judgements = msgspec.toml.decode((_FOLDER / "judged.toml").read_bytes(), type=Judgements).kind
    all_phrases = phrases()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    unjudged: dict[tuple[str, str, str, How], list[str]] = defaultdict(list)
    used = set[Judgement]()
    for phrase, readings in zip(all_phrases, _foreign_readings(python, all_phrases), strict=True):
        own = {day.isoformat() for day in day_readings(phrase.text, TODAY, phrase.language)}
        for parser, other in readings.items():
            if other is None:
                counts[parser]["only Placet reads it" if own else "neither reads it"] += 1
                continue
            how = _difference(own, other)
            if how is None:
                counts[parser]["agree"] += 1
                continue
            judged = next((row for row in judgements if row.is_about(parser, phrase, how)), None)
            used |= {judged} if judged else set()
            counts[parser][f"{how}: {judged.right if judged else 'not judged'}"] += 1
            if judged is None or judged.right == "theirs":
                key = (parser, phrase.language, phrase.family, how)
                unjudged[key].append(f"{phrase.text!r} {sorted(own)} {other}")
    print(f"{len(all_phrases)} phrases")
    for parser, counted in counts.items():
        print(parser, dict(sorted(counted.items())))
    for key, examples in sorted(unjudged.items()):
        print(*key, "·", len(examples), "·", "; ".join(examples[:EXAMPLES_MAX]))
    stale = [row.why for row in judgements if row not in used]
    print(*(f"no such difference any more: {why}" for why in stale), sep="\n")
    return 1 if unjudged or stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
