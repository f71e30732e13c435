"""What each case came to under the protocol version that is spoken: a fold that changes needs a new version.

Two devices that say the same version and fold differently have other states of the same commits, for ever.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

VERSION = 2
"""The version that PROTOCOL.md specifies."""
FILE = Path(__file__).parent / "known_folds.json"
FOLDED = ("states", "verdicts", "pages")
"""The vector files whose outcomes are what devices have to agree on."""


def outcomes(documents: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Return a digest of each case of these files, input and outcome, by its file and name."""
    return {
        f"{file}: {case['name']}": hashlib.sha256(json.dumps(case, sort_keys=True).encode()).hexdigest()[:16]
        for file in FOLDED
        for case in documents[file]
    }


def changed_cases(known_folds: dict[str, Any], present: dict[str, str]) -> list[str]:
    """Return the cases that came to something else, or are gone, under the version that is spoken."""
    if known_folds["version"] != VERSION:
        return []
    return [name for name, digest in known_folds["cases"].items() if present.get(name) != digest]


def document(cases: dict[str, str]) -> str:
    """Return the text of the file."""
    return json.dumps({"version": VERSION, "cases": cases}, indent=0, ensure_ascii=False) + "\n"


def read() -> dict[str, Any]:
    """Return what is known."""
    known_folds: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return known_folds
