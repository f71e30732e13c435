"""What a backup holds, what a restore put in place, what a check found, what compaction freed.

Never hides that something else must be done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.text import shown, wrapped
from daemon.cli.views.soundness import finding_retold
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_ID_SHOWN: Final = 12
_UNITS: Final = ("bytes", "KiB", "MiB", "GiB")


def backup_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what was written, and where."""
    sign = look.paint(look.sign("✓"), "green")
    wrote = _("Wrote {file}: {holds}, {size}")
    yield f"{sign} {wrote.format(file=shown(told['file']), holds=_holds(told), size=_size(told['bytes']))}"
    if told["with_key"]:
        yield "  " + _("With this device's key, under your passphrase: without it the key is lost.")


def restore_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what is in place now, who this device is, and what is to do."""
    sign = look.paint(look.sign("✓"), "green")
    restored = _("Restored {holds} from {file}").format(holds=_holds(told), file=shown(told["file"]))
    yield f"{sign} {restored}"
    if told["replaced"]:
        kept = _("The journal that was here is kept as {file}")
        yield f"  {kept.format(file=shown(told['replaced']))}"
    yield "  " + _("This device goes on as a new replica. Start it: placet up")
    yield from (f"  {line}" for line in _which_device(told))


def _which_device(told: dict[str, Any]) -> Iterator[str]:
    now, before = told["device_id"][:_ID_SHOWN], told["of_device_id"][:_ID_SHOWN]
    if told["device_id"] != told["of_device_id"]:
        yield _("The backup is of device {device}, whose key is not here:").format(device=before)
        yield _("this is device {device} now, which your others do not know yet.").format(device=now)
        yield _("Let it in again: `placet pair --invite` on one of them, `placet join` here.")
    elif told["key_restored"]:
        yield _("It is device {device} again: never run its key on two machines.").format(device=now)


def verify_lines(told: dict[str, Any], look: Look) -> Iterator[str]:
    """Draw what was checked, and each finding with its remedy."""
    count = told["signatures"]
    checked = ngettext("{holds}, {count} signature checked", "{holds}, {count} signatures checked", count)
    checked = checked.format(holds=_holds(told), count=_number(count))
    if told["sound"]:
        sound = _("All is sound: {checked}").format(checked=checked)
        yield f"{look.paint(look.sign('✓'), 'green')} {sound}"
        return
    for one in told["findings"]:
        yield f"{look.paint(look.sign('✗'), 'red')} {_seen(one)}"
        yield f"    {shown(finding_retold(one['remedy']))}"
    if told["more"]:
        yield "  " + _("and {count} more").format(count=_number(told["more"]))
    yield f"  {checked}"


def _seen(finding: dict[str, Any]) -> str:
    return f"{shown(finding_retold(finding['what']))} ({shown(finding_retold(finding['where']))})"


def verify_rows(told: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line; then each finding."""
    yield from ((key, value) for key, value in told.items() if key != "findings")
    for one in told["findings"]:
        yield "finding", one["what"], one["where"], one["remedy"]


def compact_lines(freed: dict[str, Any], dry_run: bool, look: Look) -> Iterator[str]:
    """Draw what left the history, or in a dry run what would."""
    count, size = int(freed.get("values") or 0), int(freed.get("bytes") or 0)
    if not count:
        nothing = _("Nothing to let go: nothing old enough was overwritten by you and held by all devices.")
        yield from wrapped(nothing, look.width)
        if unheard := freed.get("unheard"):
            kept = _("Not heard of yet, so that all is kept for it: {devices}")
            yield kept.format(devices=", ".join(map(shown, unheard)))
        return
    said = (
        _("Would free {size}: {values} in {commits}") if dry_run else _("Freed {size}: {values} in {commits}")
    )
    values = ngettext("{count} value", "{count} values", count).format(count=_number(count))
    told = said.format(size=_size(size), values=values, commits=_commits(int(freed.get("commits") or 0)))
    yield f"{look.paint(look.sign('✓'), 'green')} {told}"


def compact_rows(freed: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give name and value, one a line."""
    return iter(freed.items())


def _holds(told: dict[str, Any]) -> str:
    count = told["entities"]
    entities = ngettext("{count} entity", "{count} entities", count).format(count=_number(count))
    return _("{entities} in {commits}").format(entities=entities, commits=_commits(told["commits"]))


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
