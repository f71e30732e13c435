"""What a backup holds, what a restore put in place, what a check found, what compaction freed.

Never hides that something else must be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.words.sentences import sentence_words
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _, ngettext, sentence_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display

_ID_SHOWN: Final = 12
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


def backup_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Draw what was written, and where."""
    sign = display.paint(display.symbol("✓"), "green")
    wrote = _("Wrote {file}: {holds}, {size}")
    size = _size(fields["bytes"])
    yield f"{sign} {wrote.format(file=escape(fields['file']), holds=_holds(fields), size=size)}"
    if fields["with_key"]:
        yield "  " + _("With this device's key, under your passphrase: without it the key is lost.")


def restore_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Draw what is in place now, who this device is, and what is to do."""
    sign = display.paint(display.symbol("✓"), "green")
    restored = _("Restored {holds} from {file}").format(holds=_holds(fields), file=escape(fields["file"]))
    yield f"{sign} {restored}"
    if fields["replaced"]:
        message = _("The journal that was here is kept as {file}")
        yield f"  {message.format(file=escape(fields['replaced']))}"
    if fields["side_files"] and not fields["replaced"]:
        yield "  " + _("There was no journal here, only files that belong to one. They are kept:")
        yield from (f"    {escape(file)}" for file in fields["side_files"])
    yield "  " + _("This device continues as a new replica. Start it: placet up")
    yield from (f"  {line}" for line in _which_device(fields))


def _which_device(fields: dict[str, Any]) -> Iterator[str]:
    now, before = fields["device_id"][:_ID_SHOWN], fields["of_device_id"][:_ID_SHOWN]
    if fields["device_id"] != fields["of_device_id"]:
        yield _("The backup is of device {device}, whose key is not here:").format(device=before)
        yield _("this is device {device} now, which your others do not know yet.").format(device=now)
        yield _("Let it in again: `placet pair --invite` on one of them, `placet join` here.")
    elif fields["key_restored"]:
        yield _("It is device {device} again: never run its key on two machines.").format(device=now)


def verify_lines(fields: dict[str, Any], display: Display) -> Iterator[str]:
    """Draw what was checked, and each finding with its remedy."""
    count = fields["signatures"]
    checked = ngettext("{holds}, {count} signature checked", "{holds}, {count} signatures checked", count)
    checked = checked.format(holds=_holds(fields), count=_number(count))
    if fields["sound"]:
        sound = _("Everything is intact: {checked}").format(checked=checked)
        yield f"{display.paint(display.symbol('✓'), 'green')} {sound}"
        return
    for finding in fields["findings"]:
        yield f"{display.paint(display.symbol('✗'), 'red')} {_finding_line(finding)}"
        yield f"    {_part(finding, 'remedy')}"
    if fields["more"]:
        yield "  " + _("and {count} more").format(count=_number(fields["more"]))
    yield f"  {checked}"


def _finding_line(finding: dict[str, Any]) -> str:
    return f"{_part(finding, 'what')} ({_part(finding, 'where')})"


def _part(finding: dict[str, Any], name: str) -> str:
    return escape(sentence_words(sentence_of(finding, f"{name}_"), finding[name]))


def verify_rows(fields: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; then each finding."""
    yield from ((key, value) for key, value in fields.items() if key != "findings")
    for finding in fields["findings"]:
        yield "finding", finding["what"], finding["where"], finding["remedy"]


def compact_lines(freed: dict[str, Any], dry_run: bool, display: Display) -> Iterator[str]:
    """Draw what left the history, or in a dry run what would."""
    count, size = int(freed.get("values") or 0), int(freed.get("bytes") or 0)
    if emptied := int(freed.get("emptied") or 0):
        words = ngettext(
            "{count} old text of agents is let go of", "{count} old texts of agents are let go of", emptied
        )
        yield words.format(count=_number(emptied))
    if not count:
        nothing = _("Nothing to drop: nothing old enough was overwritten by you and is on all devices.")
        yield from wrap_lines(nothing, display.width)
        if unheard := freed.get("unheard"):
            message = _("No message came from these devices yet, so everything is kept for them: {devices}")
            yield message.format(devices=", ".join(map(escape, unheard)))
        yield from _not_waited_for(freed, display)
        return
    template = (
        _("Would free {size}: {values} in {commits}") if dry_run else _("Freed {size}: {values} in {commits}")
    )
    values = ngettext("{count} value", "{count} values", count).format(count=_number(count))
    summary = template.format(
        size=_size(size), values=values, commits=_commits(int(freed.get("commits") or 0))
    )
    yield f"{display.paint(display.symbol('✓'), 'green')} {summary}"
    yield from _not_waited_for(freed, display)


def _not_waited_for(freed: dict[str, Any], display: Display) -> Iterator[str]:
    """Say that nothing is kept for the members that this device does not link with."""
    if left_out := int(freed.get("members_left_out") or 0):
        words = ngettext(
            "Nothing is kept for {count} device that is left out: placet devices",
            "Nothing is kept for {count} devices that are left out: placet devices",
            left_out,
        )
        yield from wrap_lines(words.format(count=_number(left_out)), display.width)


def compact_rows(freed: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line."""
    return iter(freed.items())


def _holds(fields: dict[str, Any]) -> str:
    count = fields["entities"]
    entities = ngettext("{count} entity", "{count} entities", count).format(count=_number(count))
    return _("{entities} in {commits}").format(entities=entities, commits=_commits(fields["commits"]))


def _commits(count: int) -> str:
    return ngettext("{count} commit", "{count} commits", count).format(count=_number(count))


def _number(value: object) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else "?"


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    if unit:
        return f"{size:.1f} {_UNITS[unit]}"
    return ngettext("{count} byte", "{count} bytes", count).format(count=count)
