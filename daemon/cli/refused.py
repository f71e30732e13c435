"""Why the daemon refused, and what to do about it, in the language of the person.

Never drops a sentence that it does not know: it is told as it came. Scripts get the daemon's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from daemon.cli import names
from daemon.cli.views.values import headed
from daemon.cli.when import moment_words
from daemon.cli.words import _, named, said_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMS: Final = named(
    "refusal",
    "no {kind} matches {ref}",
    "{ref} is too short for an id",
    "the checklist {title} of this item was removed",
    "{ref} could mean several proposals",
    "{ref} could mean {count} devices",
    "{ref} could mean {count} of them",
    "{ref} could mean {count} or more of them",
    "{count} of them are called {name}",
    "a {kind} is called {name} already",
    "another {kind} is called {name}",
    "no status is called {name}",
    "no priority is called {name}",
    "no link is called {name}",
    "no kind is called {name}",
    "no field is called {name}",
    "no model is called {name}",
    "no export format is called {name}",
    "no import format is called {name}",
    "an estimate of {count} minutes is out of range",
    "{text} is not a calendar date",
    "{text} is not a language code",
    "{text} is not a time with its zone",
    "{text} is not a colour",
    "{text} is not a date that can be read",
    "{text} is not a time that can be read",
    "{text} is not a length of time",
    "{text} is no day",
    "{text} says a time; what is due is due on a day",
    "{text} can be read as {readings}",
    "{text} is too long for a day or a time",
    "{text} is too long for a length of time",
    "a note cannot be empty",
    "a title cannot be empty",
    "a name cannot be empty",
    "a reason cannot be empty",
    "{status} needs a reason",
    "{time} has not come yet: it is {now} here",
    "{end} is before {start}",
    "this record has ended already",
    "{title} cannot be linked to itself",
    "this would close a circle: {path}",
    "the task {ref} has no agent",
    "there is no such agent",
    "the agent of this task was destroyed, which is final",
    "the agent was destroyed, which is final",
    "the task has an agent already, which is {mode}",
    "no mode is called {name}",
    "no tool is called {name}",
    "{tool} cannot be {policy}: a policy only tightens",
    "{time} has passed: it is {now} here",
    "it has {count} timers already",
    "it is paused",
    "it was destroyed",
    "it wakes only when asked",
    "it failed {count} times in a row: {fault}",
    'this agent may not work on tasks of the category "{category}"',
    "this agent may not work on tasks without a category",
    "its home is another device",
    "it has changed since it was shown",
    "{field} of {title} is not in conflict",
    "there is no version {number}",
    "nothing to search for in {query}",
    "the label {name} is for the category {category}",
    "there is no backup {file}",
    "there is no journal yet at {file}",
    "the daemon met a bug; nothing was changed",
    "one of {names}",
    "the nearest known one is {name}",
    "an id is up to 32 of the characters 0-9 and a-f",
    "this is no token of placet pair --invite",
    "#rrggbb, or one of {names}",
    "give more of the id or of the title",
    "give more of the id",
    "give the whole id",
    "`placet list --all` shows what there is, --removed what was removed",
    "give the beginning of an id",
    "give at least {count} characters",
    "give its name",
    "give it one: placet agent create",
    "restore it first",
    "restore the task first",
    "change it: `{noun} edit`",
    "`{noun} list` shows their names",
    "1 to {count} minutes",
    "write it as YYYY-MM-DD",
    "write it like {examples}",
    "write it in a few words",
    "write the one that is meant",
    "name a time that has passed",
    "name another task",
    "name another time",
    "a record ends after it begins",
    "leave the time out",
    "say what it waits for (--reason)",
    "put the rest into a note",
    "split it into several notes",
    "look again: placet conflicts",
    "remove one of these links first, or use another type",
    "try again",
    "see placet devices",
    "its log has the details",
    "the inviting device was not reached: {why}",
    "the inviting device has too many callers now: {seen}",
    "try again in a moment",
    "give one with --addr host:port",
    "give the address as host:port",
    "this invitation is this device's own",
    "invite it from here instead: placet pair --invite",
    "pairing broke off: {fault}",
    "the other device said: {fault}",
    "paste the whole line that 'placet pair --invite' printed",
    "this device has entries of its own",
    "exchange is paused",
    "go on first: placet sync --resume",
    "this device is joining another one at this moment",
    "invite once it has joined",
    "this device was removed from its vault",
    "this device is no member of its vault any more",
    "to begin anew, stop placet, then: placet devices leave",
    "join from another device",
    "the invitation names no usable address",
    "this is neither a code such as 493-027 nor a token of placet pair --invite",
    "type the six digits that 'placet pair' shows, or paste the whole line of the token",
    "no device on this network says that it invites",
    "'placet pair' shows its address there: join again with --addr host:port",
    "several devices on this network invite: {seen}",
    "say which with --addr host:port",
    "check it and try again, or make a new invitation there: placet pair",
    "check the code; if it is right, another device may have answered at {address}: "
    "give the address that 'placet pair' shows with --addr",
    "this code was tried three times from here, and is worth nothing now",
    "make a new invitation there: placet pair",
    "this device shares its vault with nobody",
    "there is nothing to leave",
    "leave that vault first: placet devices leave",
    "this device already shares a vault with {names}",
    "{names} would not know that this device leaves",
    "start placet and run 'placet devices leave' while it runs, or add --force",
    "this is the device that you are on",
    "to take it out of the vault: placet devices leave",
    "a device's name has 1 to {count} characters that can be printed",
    "give another name",
    "this invitation is over",
    "make a new one: placet pair",
    "nothing was imported",
    "nothing was imported: the file has {seen}",
    "mend the file and import it again",
    "the file did not come whole",
    "{file} exists",
    "add --force to replace it",
    "{file} is a folder",
    "there is no folder {folder}",
    "{file} is the journal itself",
    "{file} is one of Placet's own files",
    "a daemon is writing to {file}",
    "name another one",
    "everything is kept: no retention is set",
    "say how old it may be with --older-than DAYS, or set history.retention_days",
    "the agent did not run to an end: {why}",
    "the agent has not ended its run within {seconds} s",
    "the agent's run failed: {fault}",
    "wake it there, or bring it here: placet agent move",
    "wake it up: placet agent resume",
    "allow it: placet agent policy --allow",
    "let timers wake it: placet agent edit --mode hybrid",
    "take them back: placet agent wake --cancel",
    "name a time that is to come",
    "change it: `agent edit`",
    "give its id",
    "only {free} MiB are free in {folder}, below the floor of {floor} MiB",
    "free some space; reading still works",
    "free some space",
    "a text of {size} bytes is longer than {limit}",
    "choose another name, or remove one {kind}",
    "choose another label or category, or widen it: `label edit --category`",
    "{count} labels are more than a task takes ({most})",
    "its task was removed",
    "the {kind} {title} was removed",
)
_PARTS: Final = named(
    "refusal",
    "{device} lacks {count}",
    "{count} to come from {device}",
    "{device} has not answered yet",
    "{device} is still being called",
)
"""What keeps devices from being in step, one after the other."""
_MOMENTS: Final = frozenset({"time", "now"})


def refusal_words(sentence: str) -> str:
    """Say a sentence of a refusal; what it names is carried over as it is."""
    if found := re.fullmatch(r"not in step after ([\d.]+) s(?:: (.+))?", sentence, re.DOTALL):
        said = _("not in step after {seconds} s").format(seconds=found[1])
        parts = (_said(part, _PARTS) for part in (found[2] or "").split("; ") if part)
        return headed(said) + "; ".join(parts) if found[2] else said
    return _said(sentence, _FORMS)


def _said(sentence: str, forms: Sequence[str]) -> str:
    for form in forms:
        if not sentence.startswith(form.partition("{")[0]):
            continue
        if found := re.fullmatch(_pattern(form), sentence, re.DOTALL):
            values = found.groupdict()
            if "kind" in values:
                values["kind"] = names.kind(values["kind"])
            for name in _MOMENTS & values.keys():
                values[name] = moment_words(values[name])
            return said_of("refusal", form).format(**values)
    return sentence


def _pattern(form: str) -> str:
    return re.sub(r"\\\{(\w+)\\\}", _group, re.escape(form))


def _group(name: re.Match[str]) -> str:
    known = {"count": r"\d+", "number": r"\d+", "kind": r"[a-z_ ]+?"}
    return f"(?P<{name[1]}>{known.get(name[1], '.+?')})"
