"""What a backup holds, what a restore put in place, what a check found, what compaction freed.

Never hides that something else must be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.text import shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_ID_SHOWN: Final = 12
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


def backup_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what was written, and where."""
    sign = look.paint(look.sign("✓"), "green")
    yield f"{sign} Wrote {shown(told['file'])}: {_holds(told)}, {_size(told['bytes'])}"
    if told["with_key"]:
        yield "  With this device's key, under your passphrase: without it the key is lost."


def restore_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what is in place now, who this device is, and what is to do."""
    sign = look.paint(look.sign("✓"), "green")
    yield f"{sign} Restored {_holds(told)} from {shown(told['file'])}"
    if told["replaced"]:
        yield f"  The journal that was here is kept as {shown(told['replaced'])}"
    yield "  This device goes on as a new replica. Start it: placet up"
    if told["device_id"] != told["of_device_id"]:
        yield f"  The backup is of device {told['of_device_id'][:_ID_SHOWN]}, whose key is not here:"
        yield f"  this is device {told['device_id'][:_ID_SHOWN]} now, which your others do not know yet."
        yield "  Let it in again: `placet pair --invite` on one of them, `placet join` here."
    elif told["key_restored"]:
        yield f"  It is device {told['device_id'][:_ID_SHOWN]} again: never run its key on two machines."


def verify_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what was checked, and each finding with its remedy."""
    checked = f"{_holds(told)}, {_number(told['signatures'])} signatures checked"
    if told["sound"]:
        yield f"{look.paint(look.sign('✓'), 'green')} All is sound: {checked}"
        return
    for one in told["findings"]:
        yield f"{look.paint(look.sign('✗'), 'red')} {shown(one['what'])} ({shown(one['where'])})"
        yield f"    {shown(one['remedy'])}"
    if told["more"]:
        yield f"  and {_number(told['more'])} more"
    yield f"  {checked}"


def verify_rows(told: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; then each finding."""
    yield from ((key, value) for key, value in told.items() if key != "findings")
    for one in told["findings"]:
        yield "finding", one["what"], one["where"], one["remedy"]


def compact_lines(freed: dict[str, Any], dry_run: bool, look: Look) -> Iterator[str]:
    """Draw what left the history, or in a dry run what would."""
    count, size = int(freed.get("values") or 0), int(freed.get("bytes") or 0)
    if not count:
        yield "Nothing to let go: nothing old enough was overwritten by you and held by all devices."
        if unheard := freed.get("unheard"):
            yield f"Not heard of yet, so that all is kept for it: {', '.join(map(shown, unheard))}"
        return
    sign, words = look.paint(look.sign("✓"), "green"), "Would free" if dry_run else "Freed"
    yield f"{sign} {words} {_size(size)}: {_number(count)} values in {_number(freed.get('commits'))} commits"


def compact_rows(freed: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line."""
    return iter(freed.items())


def _holds(told: dict[str, Any]) -> str:
    return f"{_number(told['entities'])} entities in {_number(told['commits'])} commits"


def _number(value: object) -> str:
    return f"{value:,}".replace(",", " ") if isinstance(value, int) else "?"


def _size(count: int) -> str:
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{count} bytes"
