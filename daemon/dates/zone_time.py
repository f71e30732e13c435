"""Local times of a zone in UTC, also on the days on which its clocks are changed.

Never guesses which of two moments is meant if the clocks show a time twice.
"""

from datetime import UTC, date, datetime, time, tzinfo

from daemon.dates.spelling import excerpt
from daemon.refusal import usage_error
from store.sentence import sentence


def in_utc(local: datetime, zone: tzinfo, words: str) -> datetime:
    """Return a local time in UTC. Refuse one that the clocks of its zone skip or show twice.

    `words` are what was typed, for the refusal. A time with an offset of its own is only converted.
    """
    if local.tzinfo is not None:
        return local.astimezone(UTC)
    early, late = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if early.utcoffset() == late.utcoffset():
        return early.astimezone(UTC)
    if early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        skipped = sentence(
            "clock-skips",
            "{words!r}: the clocks here skip {time} on that day",
            words=excerpt(words),
            time=f"{local:%H:%M}",
        )
        raise usage_error(skipped, sentence("name-other-time", "name another time"))
    doubled = sentence(
        "clock-shows-twice",
        "{words!r}: the clocks here show {time} twice on that day",
        words=excerpt(words),
        time=f"{local:%H:%M}",
    )
    first, second = (moment.isoformat(timespec="minutes") for moment in (early, late))
    raise usage_error(doubled, sentence("say-either", "say {first} or {second}", first=first, second=second))


def in_utc_unnamed(local: datetime, zone: tzinfo) -> datetime:
    """Return a local time in UTC that nobody typed. If the clocks skip it, it is what they show instead."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def beginning_in_utc(day: date, zone: tzinfo) -> datetime:
    """Return the beginning of a day in UTC."""
    return in_utc_unnamed(datetime.combine(day, time()), zone)
