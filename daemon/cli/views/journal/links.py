"""Links between tasks, in words, as seen from one of them.

Never hides an end that was removed, or a circle that cannot be worked off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from daemon.cli.terminal.painted import STATUS_STYLES
from daemon.words.short_ids import short_ids_of
from daemon.words.task_parts import task_link_words
from daemon.words.terminal_text import display_width, escape, pad_right
from daemon.words.translation import _
from daemon.words.values import status_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import LinkJson, TaskJson


def link_rows(links: Iterable[LinkJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, type, direction, the other task's id, its status, its title."""
    for link in links:
        get = link.get
        yield get("id"), get("type"), get("direction"), get("task_id"), get("status"), get("title")


def link_list(links: Sequence[LinkJson], display: Display) -> Iterator[str]:
    """Draw links, each with its own id, the other task's id and how it stands."""
    own, others = short_ids_of(links), short_ids_of(links, "task_id")
    words = {id(link): task_link_words(link) for link in links}
    wide = max(map(display_width, words.values()), default=0)
    for link in links:
        short = display.paint(escape(own.get(link.get("id", ""), "")), "dim")
        other = display.paint(escape(others.get(link.get("task_id", ""), "")), "cyan")
        texts = [
            short,
            pad_right(words[id(link)], wide),
            other,
            escape(link.get("title") or _("a task that is not here")),
        ]
        yield "  ".join([*texts, *_status_words(link, display)])


def link_deed_lines(verb: str, link: LinkJson, display: Display) -> Iterator[str]:
    """Answer a change of a link: what was done, its id, what it says."""
    sign = display.paint(display.symbol("✓"), "green")
    yield from (f"{sign} {verb} {line}" for line in link_list([link], display))


def _status_words(link: LinkJson, display: Display) -> Iterator[str]:
    status = str(link.get("status") or "")
    if link.get("task_removed"):
        yield display.paint(status_word("removed"), "red")
    elif status:
        yield display.paint(status_word(status), *STATUS_STYLES.get(status, ()))
    if link.get("circular"):
        yield display.paint(_("a circle: each waits for the other"), "red")


def link_lines(task: TaskJson, display: Display) -> Iterator[str]:
    """Draw the links of a task."""
    links = task.get("links") or ()
    if links:
        yield from ("", display.paint(_("Links"), "bold"))
        yield from (f"  {line}" for line in link_list(links, display))
