"""What the page calls the settings, and what can be chosen.

Never hides a setting that has no words here: it is called by its key.
"""

from collections.abc import Mapping
from typing import Final

from daemon.words.translation import _, gettext_noop

_LABELS: Final[Mapping[str, str]] = {
    "language": gettext_noop("Language"),
    "device.name": gettext_noop("Name of this device"),
    "model.kind": gettext_noop("Who answers for agents"),
    "model.base_url": gettext_noop("Address of the server"),
    "model.name": gettext_noop("Name of the model there"),
    "model.mode": gettext_noop("How the model is asked"),
    "model.fallback": gettext_noop("While the server is away"),
    "model.price_input": gettext_noop("Price of a million tokens sent"),
    "model.price_output": gettext_noop("Price of a million tokens received"),
    "model.price_cached": gettext_noop("Price of a million tokens from the server's memory"),
    "model.temperature": gettext_noop("Temperature"),
    "model.max_output_tokens": gettext_noop("Tokens of an answer at most"),
    "model.context_tokens": gettext_noop("Tokens that the model reads at most"),
    "model.timeout_s": gettext_noop("How long an answer may take"),
    "agents.for_new_tasks": gettext_noop("An agent for each new task"),
    "agents.categories": gettext_noop("Only for tasks of these categories, with commas between"),
    "agents.mode": gettext_noop("When such an agent works"),
    "budget.cost_per_day": gettext_noop("What models may cost a day"),
    "wake.debounce_s": gettext_noop("Quiet before an agent works"),
    "wake.throttle_s": gettext_noop("Time between two runs of an agent"),
    "wake.concurrency": gettext_noop("Agents that work at once"),
    "wake.run_max_s": gettext_noop("How long a run may take"),
    "proposals.lifetime_s": gettext_noop("How long a proposal stays open"),
    "proposals.per_set": gettext_noop("Proposals of a run at most"),
    "history.retention_days": gettext_noop("How long history is kept"),
    "history.agent_texts_days": gettext_noop("How long words of agents are kept"),
    "mailbox.look_s": gettext_noop("Time between two looks into a mailbox"),
    "mailbox.gather_s": gettext_noop("How long small changes gather"),
}
_SECTIONS: Final[Mapping[str, str]] = {
    "language": gettext_noop("Language"),
    "device": gettext_noop("This device"),
    "model": gettext_noop("Model"),
    "agents": gettext_noop("Agents"),
    "history": gettext_noop("History"),
    "mailbox": gettext_noop("Mailboxes"),
}
_CHOICES: Final[Mapping[str, str]] = {
    "true": gettext_noop("yes"),
    "false": gettext_noop("no"),
    "model.kind=rules": gettext_noop("rules on this device; nothing is sent"),
    "model.kind=openai": gettext_noop("a model at a server"),
    "model.fallback=": gettext_noop("agents wait"),
    "model.fallback=rules": gettext_noop("the rules of this device answer"),
    "model.mode=auto": gettext_noop("as the server understands it"),
    "agents.mode=autonomous": gettext_noop("when its task changes, by timers, and when you ask"),
    "agents.mode=hybrid": gettext_noop("by timers, and when you ask"),
    "agents.mode=interactive": gettext_noop("only when you ask"),
    "language=": gettext_noop("as the browser asks"),
    "language=en": "English",
    "language=de": "Deutsch",
    "language=es": "Español",
    "language=fr": "Français",
    "language=ro": "Română",
}


_UNSET: Final[Mapping[str, str]] = {
    "history.retention_days": gettext_noop("for ever"),
    "history.agent_texts_days": gettext_noop("for ever"),
}


def unset_words(key: str) -> str:
    """Return what it means that a setting has no value; empty if there is no word for it."""
    return _(_UNSET[key]) if key in _UNSET else ""


def setting_label(key: str) -> str:
    """Return what a setting is called; its key, if it has no words."""
    return _(_LABELS[key]) if key in _LABELS else key


def section_title(section: str) -> str:
    """Return what a table of settings is called; its name, if it has no words."""
    return _(_SECTIONS[section]) if section in _SECTIONS else section


def choice_words(key: str, value: str) -> str:
    """Return what a value is called that can be chosen; the value, if it has no words."""
    words = _CHOICES.get(f"{key}={value}") or _CHOICES.get(value)
    return _(words) if words else value
