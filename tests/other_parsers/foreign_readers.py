"""What dateparser and parsedatetime make of phrases: lines of JSON in, lines of JSON out.

Runs in the environment of `make other-parsers`, and never imports anything of Placet.
"""

import json
import sys
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC).replace(tzinfo=None)


def _by_dateparser(text: str, language: str) -> str | None:
    dateparser: Any = import_module("dateparser")
    settings: Any = {"RELATIVE_BASE": NOON, "PREFER_DATES_FROM": "future"}
    moment = dateparser.parse(text, languages=[language], settings=settings)
    return None if moment is None else moment.date().isoformat()


def _by_parsedatetime(text: str, language: str) -> str | None:
    parsedatetime: Any = import_module("parsedatetime")
    if language != "en":
        return None
    moment, kind = parsedatetime.Calendar().parseDT(text, NOON)
    return moment.date().isoformat() if kind else None


def main() -> None:
    """Read each line of the standard input as a pair of a language and a text."""
    for line in sys.stdin:
        language, text = json.loads(line)
        readings = {
            "dateparser": _by_dateparser(text, language),
            "parsedatetime": _by_parsedatetime(text, language),
        }
        print(json.dumps(readings))


if __name__ == "__main__":
    main()
