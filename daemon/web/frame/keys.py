"""The keys of the page: one table that the list of keys shows and the scripts read.

Never what a key does: each script has a deed for every name here, and none besides.
"""

from typing import Final, Literal, NamedTuple

from daemon.web.frame.entries import ENTRIES
from daemon.words.translation import _, gettext_noop

Part = Literal["everywhere", "row", "item"]
"""Where a key acts: on every page, on a task in a list, on a proposal."""


class Key(NamedTuple):
    """Keys that do the same: as a script reads them, the name of the deed, and what the list says of it.

    `shown` is how the list writes them, if that differs.
    """

    part: Part
    keys: tuple[str, ...]
    deed: str
    words: str
    shown: tuple[str, ...] = ()


KEYS: Final = (
    Key("everywhere", ("c",), "add", gettext_noop("make a new task")),
    Key("everywhere", ("/", "Ctrl k"), "find", gettext_noop("find tasks and actions"), ("/", "Ctrl K", "⌘K")),
    Key("everywhere", ("j",), "next", gettext_noop("look at the next one")),
    Key("everywhere", ("k",), "previous", gettext_noop("look at the one before")),
    *(Key("everywhere", (f"g {entry.key}",), entry.path, entry.help) for entry in ENTRIES if entry.key),
    Key("everywhere", ("?",), "help", gettext_noop("show these keys")),
    Key("row", ("Enter",), "open", gettext_noop("open it")),
    Key("row", ("x",), "tick", gettext_noop("it is done")),
    Key("row", ("d",), "due", gettext_noop("set when it is due")),
    Key("row", ("p",), "priority", gettext_noop("set its priority")),
    Key("row", ("l",), "labels", gettext_noop("set its labels")),
    Key("row", ("s",), "status", gettext_noop("set its status")),
    Key("row", ("e",), "edit", gettext_noop("edit it")),
    Key("row", ("#",), "remove", gettext_noop("remove it")),
    Key("row", ("J",), "addNext", gettext_noop("choose the next one as well")),
    Key("row", ("K",), "addPrevious", gettext_noop("choose the one before as well")),
    Key("row", (".",), "menu", gettext_noop("show all that can be done")),
    Key("item", ("y",), "confirm", gettext_noop("confirm it")),
    Key("item", ("n",), "reject", gettext_noop("reject it")),
    Key("item", ("N",), "rejectWhy", gettext_noop("reject it, and say why")),
    Key("item", ("d",), "defer", gettext_noop("defer it: it stays for later")),
    Key(
        "item",
        tuple("123456789"),
        "answer",
        gettext_noop("choose this answer to a question"),
        ("1", "2", "…"),
    ),
    Key("item", ("s",), "next", gettext_noop("look at the next")),
    Key("item", ("a",), "confirmAll", gettext_noop("confirm everything on this card")),
    Key("item", ("u",), "takeBack", gettext_noop("take the last decision back")),
    Key("item", ("e",), "change", gettext_noop("change it first, then confirm")),
)
"""Each key of the page, in the order of the list."""


def deeds_by_key() -> dict[Part, dict[str, str]]:
    """Return what scripts read: by part and key the name of the deed, or the address to go to."""
    parts: dict[Part, dict[str, str]] = {"everywhere": {}, "row": {}, "item": {}}
    for key in KEYS:
        parts[key.part] |= dict.fromkeys(key.keys, key.deed)
    return parts


def key_list() -> list[tuple[str, list[Key]]]:
    """Return what the list shows: by head the keys, their words in the language of the request."""
    heads: dict[Part, str] = {
        "everywhere": _("Everywhere"),
        "row": _("On a task in a list"),
        "item": _("On a proposal"),
    }
    return [
        (
            head,
            [
                key._replace(words=_(key.words), shown=key.shown or key.keys)
                for key in KEYS
                if key.part == part
            ],
        )
        for part, head in heads.items()
    ]
