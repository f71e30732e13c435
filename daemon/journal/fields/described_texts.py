r"""The texts of requests as the API's description has them: what `validation` and `colors` take, as a schema.

Never checks anything: a refusal is in words, and comes from where the field is kept. What these allow is
taken, but for notes, of which bytes are counted there and a schema can count only characters. Blanks at the
ends are cut off there, so a text with some may be longer than is described here.
"""

from typing import Annotated, Any

from msgspec import Meta

from daemon.journal.fields import colors, validation


def _any_case(word: str) -> str:
    """Return a pattern of a word, or of words between which blanks, hyphens or underscores are."""
    letters = "".join(f"[{sign.upper()}{sign}]" if sign.isalpha() else sign for sign in word.lower())
    return letters.replace(" ", r"[\s_-]+")


def _one_of(*patterns: str) -> dict[str, Any]:
    return {"pattern": rf"^\s*({'|'.join(patterns)})\s*$"}


def _line(chars_max: int) -> dict[str, Any]:
    return {"pattern": r"\S", "minLength": 1, "maxLength": chars_max}


TitleText = Annotated[str, Meta(extra_json_schema=_line(validation.TITLE_CHARS_MAX))]
NameText = Annotated[str, Meta(extra_json_schema=_line(validation.NAME_CHARS_MAX))]
RemarkText = Annotated[str, Meta(extra_json_schema={"maxLength": validation.REASON_CHARS_MAX})]
EntryText = Annotated[str, Meta(extra_json_schema=_line(validation.ENTRY_BYTES_MAX))]
StatusText = Annotated[str, Meta(extra_json_schema=_one_of(*map(_any_case, validation.STATUSES)))]
PriorityText = Annotated[str, Meta(extra_json_schema=_one_of(*map(_any_case, validation.PRIORITIES)))]
LanguageText = Annotated[str, Meta(extra_json_schema=_one_of(validation.LANGUAGE_PATTERN))]
ColorText = Annotated[
    str,
    Meta(
        extra_json_schema=_one_of(
            "#[0-9A-Fa-f]{3}", "#[0-9A-Fa-f]{6}", *map(_any_case, ("gray", *colors.COLOR_NAMES))
        )
    ),
]
Minutes = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": validation.ESTIMATE_MAX})]
