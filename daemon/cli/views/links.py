"""Links between tasks, in words, as seen from one of them.

Never hides an end that was removed, or a circle that cannot be worked off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.short import shorts
from daemon.cli.text import cells, padded, shown
from daemon.cli.views.values import STATUS_STYLES, status_word
from daemon.cli.words import _, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Link, Task

_WORDS: Final = {
    ("basic", "to"): later("relates to"),
    ("basic", "from"): later("relates to"),
    ("blocks", "to"): later("blocks"),
    ("blocks", "from"): later("blocked by"),
    ("follows_up", "to"): later("follows up"),
    ("follows_up", "from"): later("followed up by"),
    ("duplicates", "to"): later("duplicates"),
    ("duplicates", "from"): later("duplicated by"),
    ("fixes", "to"): later("fixes"),
    ("fixes", "from"): later("fixed by"),
}


def link_rows(links: Iterable[Link]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, type, direction, the other task's id, its status, its title."""
    for link in links:
        get = link.get
        yield get("id"), get("type"), get("direction"), get("task_id"), get("status"), get("title")


def link_list(links: Sequence[Link], look: Look) -> Iterator[str]:
    """Draw links, each with its own id, the other task's id and how it stands."""
    own, others = shorts(links), shorts(links, "task_id")
    words = {id(link): link_words(link) for link in links}
    wide = max(map(cells, words.values()), default=0)
    for link in links:
        short = look.paint(shown(own.get(link.get("id", ""), "")), "dim")
        other = look.paint(shown(others.get(link.get("task_id", ""), "")), "cyan")
        told = [
            short,
            padded(words[id(link)], wide),
            other,
            shown(link.get("title") or _("a task that is not here")),
        ]
        yield "  ".join([*told, *_standing(link, look)])


def link_done(verb: str, link: Link, look: Look) -> Iterator[str]:
    """Answer a change of a link: what was done, its id, what it says."""
    sign = look.paint(look.sign("✓"), "green")
    yield from (f"{sign} {verb} {line}" for line in link_list([link], look))


def _standing(link: Link, look: Look) -> Iterator[str]:
    status = str(link.get("status") or "")
    if link.get("task_removed"):
        yield look.paint(status_word("removed"), "red")
    elif status:
        yield look.paint(status_word(status), *STATUS_STYLES.get(status, ()))
    if link.get("circular"):
        yield look.paint(_("a circle: each waits for the other"), "red")


def link_words(link: Link) -> str:
    """Say what a link says, from where it is seen: "blocks", "blocked by"."""
    said = (str(link.get("type")), str(link.get("direction")))
    return _(_WORDS[said]) if said in _WORDS else shown(" ".join(said))


def link_lines(task: Task, look: Look) -> Iterator[str]:
    """Draw the links of a task."""
    links = task.get("links") or ()
    if links:
        yield from ("", look.paint(_("Links"), "bold"))
        yield from (f"  {line}" for line in link_list(links, look))
