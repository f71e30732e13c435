"""What an agent wants to do, for a person: the command first, what it would change, the agent's words last.

Never decides what is hashed: all arguments, exactly as they are sent, stand below.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

_COMMANDS: Final = ("command", "cmd", "script", "code", "query")
_WORDS: Final = ("description", "explanation", "reason")
"""What an agent writes about its own command: it may say anything, so it stands last."""
FOLDERS: Final = ("cwd", "folder", "directory")
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("file_path", "path", "notebook_path", "filename", "file"), gettext_noop("File")),
    **dict.fromkeys(("url", "uri", "address"), gettext_noop("Address")),
    **dict.fromkeys(("to", "recipient", "recipients"), gettext_noop("Recipient")),
    **dict.fromkeys(FOLDERS, gettext_noop("Folder")),
    **dict.fromkeys(("session", "session_id"), gettext_noop("Session")),
}
_SHOWN: Final = (600, 12)
_SHOWN_OF_COMMAND: Final = (4000, 40)
"""So many characters and lines are in sight; of a command many more, since its end may do harm."""
_PARTS_MAX: Final = 30


@dataclass(frozen=True, slots=True)
class AskedPart:
    """An argument: how it is called, and its lines, of which those beyond a bound are folded in `rest`.

    `kind` is "command", "value" or "words". `rest_chars` is how many characters are folded.
    """

    kind: str
    label: str
    lines: list[str]
    rest: list[str]
    rest_chars: int


def asked_parts(args: Mapping[str, Any]) -> list[AskedPart]:
    """Return the arguments in the order in which a person judges them; of very many, the first."""
    ranked = sorted(args, key=_rank)
    return [_part(name, args[name]) for name in ranked[:_PARTS_MAX]]


def _rank(name: str) -> tuple[int, str]:
    if name in _COMMANDS:
        return 0, name
    if name in _WORDS:
        return 3, name
    return (1 if name in _NAMES else 2), name


def _part(name: str, value: Any) -> AskedPart:
    kind = "command" if name in _COMMANDS else "words" if name in _WORDS else "value"
    bounds = _SHOWN_OF_COMMAND if kind == "command" else _SHOWN
    shown, rest = _cut(value if isinstance(value, str) else _value_words(value), *bounds)
    label = _(_NAMES[name]) if name in _NAMES else name
    return AskedPart(kind, label, list(_lines(shown)), list(_lines(rest)), len(rest))


def _value_words(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(member, str) for member in value):
        return "\n".join(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _cut(text: str, chars: int, lines: int) -> tuple[str, str]:
    """Cut after so many characters and lines that one argument cannot push the others out of sight."""
    line_end = -1
    for _line in range(lines):
        line_end = text.find("\n", line_end + 1)
        if line_end < 0 or line_end >= chars:
            return text[:chars], text[chars:]
    return text[:line_end], text[line_end:]


def _lines(text: str) -> Iterator[str]:
    """Yield the lines; what could hide or reorder text in them is visible."""
    return (escape(line) for line in text.split("\n")) if text else iter(())
