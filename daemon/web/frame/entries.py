"""The rooms to which the frame of every page leads: one list for the bar, the sheet of a phone and the keys.

Never a route: each room declares its own.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from daemon.words.translation import _, gettext_noop


class Entry(NamedTuple):
    """A way to a room: the room's name, its address, its icon, and its words before they are translated.

    `key` follows `g` and goes there; "" for none. `on_phone`: the bar of a phone has a place for it.
    """

    room: str
    path: str
    icon: str
    words: str
    key: str = ""
    on_phone: bool = False


BAR: Final = (
    Entry("today", "/", "sun", gettext_noop("Today"), "y", on_phone=True),
    Entry("inbox", "/inbox", "inbox", gettext_noop("Inbox"), "i", on_phone=True),
    Entry("tasks", "/tasks", "list", gettext_noop("Tasks"), "t", on_phone=True),
    Entry("agents", "/agents", "spark", gettext_noop("Agents"), "a"),
    Entry("devices", "/devices", "devices", gettext_noop("Devices"), "d"),
    Entry("settings", "/settings", "settings", gettext_noop("Settings"), ","),
)
"""What the bar shows, in its order."""
BEHIND_SETTINGS: Final = (
    Entry("import", "/import", "import", gettext_noop("Import a file")),
    Entry("health", "/health", "health", gettext_noop("Health")),
)
"""What the sheet of a phone shows beside the rooms for which its bar has no place."""
BY_KEY_ALONE: Final = (
    Entry("permissions", "/permissions", "key", gettext_noop("Permissions"), "p"),
    Entry("board", "/board", "board", gettext_noop("Board"), "b"),
    Entry("decisions", "/decisions", "history", gettext_noop("Decisions"), "h"),
)
"""Parts of rooms that have a key of their own."""
PLACES: Final = tuple(entry for entry in (*BAR, *BEHIND_SETTINGS, *BY_KEY_ALONE) if entry.key)


def shown_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Return entries with their words in the language of the request."""
    return [entry._replace(words=_(entry.words)) for entry in entries]
