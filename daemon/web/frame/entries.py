"""The rooms and actions to which every page leads: one list for the bar, the phone's sheet, keys and finder.

Never a route: each room declares its own.
"""

import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from daemon.words.translation import _, gettext_noop


class Entry(NamedTuple):
    """A way to a room, or an action: its name, address and icon, and its words before they are translated.

    `key` follows `g` and goes there, and `help` says so; "" for none. `on_phone`: the bar of a phone has a
    place for it. `deed` is what a script does in place of going there, "" if it goes.
    """

    room: str
    path: str
    icon: str
    words: str
    key: str = ""
    help: str = ""
    on_phone: bool = False
    deed: str = ""


BAR: Final = (
    Entry("today", "/", "sun", gettext_noop("Today"), "y", gettext_noop("go to today"), on_phone=True),
    Entry("inbox", "/inbox", "inbox", gettext_noop("Inbox"), "i", gettext_noop("go to the inbox"), True),
    Entry("tasks", "/tasks", "list", gettext_noop("Tasks"), "t", gettext_noop("go to the tasks"), True),
    Entry("agents", "/agents", "spark", gettext_noop("Agents"), "a", gettext_noop("go to the agents")),
    Entry("devices", "/devices", "devices", gettext_noop("Devices"), "d", gettext_noop("go to the devices")),
    Entry(
        "settings", "/settings", "settings", gettext_noop("Settings"), ",", gettext_noop("go to the settings")
    ),
)
"""What the bar shows, in its order."""
BEHIND_SETTINGS: Final = (
    Entry("import", "/import", "import", gettext_noop("Import a file")),
    Entry("removed", "/removed", "no", gettext_noop("Removed")),
    Entry("health", "/health", "health", gettext_noop("Health")),
)
"""What the sheet of a phone shows beside the rooms for which its bar has no place."""
FINDER_ALONE: Final = (
    Entry("add", "/tasks/new", "plus", gettext_noop("Add a task"), deed="add"),
    Entry("series", "/series", "again", gettext_noop("What comes again")),
    Entry("undo", "/removed", "clock", gettext_noop("Undo the last change"), deed="undo"),
    Entry("pair", "/devices/pair", "devices", gettext_noop("Pair a device")),
    Entry("colours", "/settings#colours", "settings", gettext_noop("Colours")),
    Entry("light", "/settings#colours", "sun", gettext_noop("Light colours"), deed="light"),
    Entry("dark", "/settings#colours", "sun", gettext_noop("Dark colours"), deed="dark"),
    Entry("export", "/settings#data", "import", gettext_noop("Export the journal")),
    Entry(
        "permissions",
        "/permissions",
        "key",
        gettext_noop("Permissions"),
        "p",
        gettext_noop("go to the permissions"),
    ),
    Entry("board", "/board", "list", gettext_noop("Board"), "b", gettext_noop("go to the board")),
    Entry(
        "decisions",
        "/decisions",
        "check",
        gettext_noop("Decisions"),
        "h",
        gettext_noop("go to the history of decisions"),
    ),
    Entry("preferences", "/preferences", "settings", gettext_noop("Preferences")),
    Entry("rules", "/rules", "key", gettext_noop("Standing rules")),
    Entry("passkeys", "/passkeys", "key", gettext_noop("Passkeys")),
    Entry("verify", "/verify", "health", gettext_noop("Check the journal")),
    Entry("keys", "/keys", "list", gettext_noop("Keys"), deed="help"),
    Entry("out", "/settings", "out", gettext_noop("Sign out"), deed="out"),
)
"""Actions and parts of rooms that the finder alone lists, some with a key of their own."""
ENTRIES: Final = (*BAR, *FINDER_ALONE, *BEHIND_SETTINGS)


def shown_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries with their words in the language of the request."""
    return [entry._replace(words=_(entry.words)) for entry in entries]


def entries_named(typed: str) -> list[Entry]:
    """Return the entries of which a word begins with each of the typed ones, whatever their accents."""
    wanted = _plain(typed).split()
    return [
        entry
        for entry in shown_entries(ENTRIES)
        if all(any(word.startswith(part) for word in _plain(entry.words).split()) for part in wanted)
    ]


def _plain(text: str) -> str:
    parted = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in parted if not unicodedata.combining(sign))
