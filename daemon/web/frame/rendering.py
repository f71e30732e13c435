"""Fills the templates: each lies beside the code that fills it, and escapes whatever is put into it.

Never trusts a text: markup is escaped, and control and direction-changing characters become visible.
"""

import hashlib
import re
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from daemon.language import DEFAULT_LANGUAGE
from daemon.web.frame import entries, keys
from daemon.words.terminal_text import escape as visible
from daemon.words.translation import _, language_in_use, ngettext, pgettext, use_language

WEB_FOLDER: Final = Path(__file__).parents[1]
STATIC_PATH: Final = "/static"
_MEDIA: Final = {".css": "text/css", ".js": "text/javascript", ".png": "image/png"}
_UNSENT: Final = {
    "text/css": re.compile(rb"/\*.*?\*/", re.DOTALL),
    "text/javascript": re.compile(rb"^[ \t]*(?://.*|/\*.*\*/[ \t]*)?\n|^[ \t]+", re.MULTILINE),
}
"""What a browser does not need of a style or script: comments, and a script's empty lines and indentation."""
_SPACED: Final = {
    "text/css": re.compile(rb'("[^"\n]*")|\s*(?:;\s*(?=\})|([{};,>])\s*)|(:) |^\s+|\s+$'),
    "text/javascript": re.compile(rb'("(?:[^"\\\n]|\\.)*"|`[^`\n]*`)|\s*([][{(),;:?=<>&|!]+)\s*| *(\}) *'),
}
"""Signs that need no space around them, outside of what is quoted. After a `}`, the end of the line stays."""
_COMMAND: Final = re.compile(r"`([^`]+)`")
COLOURS: Final[ContextVar[str]] = ContextVar("placet_colours", default="")
"""The colours that a browser asked for, `light` or `dark`; empty for those of its system."""
DEED: Final[ContextVar[Any]] = ContextVar("placet_deed", default=None)
"""What the form did that this page follows, and its undo; None if there was none."""


class Renderer:
    """The templates of all rooms, and the static files that they name.

    The words are those of the command line's catalogs, in the language of the request, else in `language`.
    """

    def __init__(self, language: str = DEFAULT_LANGUAGE) -> None:
        use_language(language)
        self.static_files = _static_files()
        version = hashlib.sha256(b"\0".join(content for _media, content in self.static_files.values()))
        self.static_root = f"{STATIC_PATH}/{version.hexdigest()[:12]}"
        self._environment = Environment(
            loader=FileSystemLoader(WEB_FOLDER),
            autoescape=True,
            finalize=_harmless,
            undefined=StrictUndefined,
            # They change with the program alone: to look at their files again would be paid for by each row.
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["with_code"] = _with_code
        self._environment.globals |= {
            "_": _,
            "ngettext": ngettext,
            "pgettext": pgettext,
            "static": self.static_root,
            # A page that is filled without its frame has no devices around it.
            "step_words": "",
            "step_tone": "",
            "key_deeds": keys.deeds_by_key(),
        }

    def render(self, template: str, **values: Any) -> str:
        """Fill a template, named by its room and file."""
        around = {
            "language": language_in_use(),
            "colours": COLOURS.get(),
            "deed": DEED.get(),
            "bar_entries": entries.shown_entries(entries.BAR),
            "settings_entries": entries.shown_entries(entries.BEHIND_SETTINGS),
        }
        return self._environment.get_template(template).render(around | values)


def _harmless(value: object) -> object:
    """Return what a template shows of a value; jinja2 escapes markup in it after that."""
    if value is None:
        return ""
    # Markup is what a macro of a template has rendered: its values were made harmless inside of it.
    return value if isinstance(value, Markup) else visible(value)


def _with_code(sentence: str) -> Markup:
    """Return a sentence of the catalogs, where what stands between backticks is a command."""
    parts = _COMMAND.split(sentence)
    coded = (
        Markup("<code>{}</code>").format(part) if index % 2 else part for index, part in enumerate(parts)
    )
    return Markup().join(coded)


def _static_files() -> dict[str, tuple[str, bytes]]:
    """Read every script, style and icon of the rooms as it is sent, by its file's name; no two have the same.

    Comments are for those who read the source: they cost a browser nothing.
    """
    files = [path for path in sorted(WEB_FOLDER.rglob("*")) if path.suffix in _MEDIA]
    media = {path.name: _MEDIA[path.suffix] for path in files}
    contents = {path.name: (media[path.name], _sent_content(media[path.name], path)) for path in files}
    assert len(contents) == len(files)
    return contents


def _sent_content(media: str, path: Path) -> bytes:
    content = path.read_bytes()
    if media not in _SPACED:
        return content
    needed = _UNSENT[media].sub(b"", content)
    return _SPACED[media].sub(lambda match: match[match.lastindex] if match.lastindex else b"", needed)
