"""The settings: flag before environment before `config.toml` before default.

Never reads the model's key, writes a file, or accepts a key that it does not know.

The docstrings of the classes become docs/reference/settings.md (`make reference`).
"""

import difflib
import json
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from store.sentence import Sentence, foreign_text, json_params, sentence

VARIABLE_PREFIX = "PLACET_"
OTHER_VARIABLES = frozenset({"PLACET_HOME", "PLACET_MODEL_KEY"})
"""Variables that are no settings: the folder of all files, and the key of the model, which is secret."""

FILE_BYTES_MAX = 64 << 10
"""Nobody writes so many settings, and a parser of TOML may take time in the square of a key's length."""
DEPTH_MAX = 32
"""How deeply tables and lists of one value may be nested."""
SHOWN_CHARS_MAX = 200
"""How much of a value or of an unknown name a message shows."""

Port = Annotated[int, Meta(ge=0, le=65535)]
# Numbers have an end: `inf` is one to TOML, and no time that can be counted to.
Count = Annotated[int, Meta(ge=1, le=100_000)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
_INT_BITS_MAX = 128


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `config.toml`."""


class DeviceSettings(_Section, frozen=True):
    """This device, as people see it. An empty name means the host's."""

    name: Annotated[str, Meta(max_length=64)] = ""


class ListenSettings(_Section, frozen=True):
    """Where peers connect: an address of this machine, nothing for all of them. Port 0 means any free one."""

    host: str = ""
    port: Port = 0


class PeerSettings(_Section, frozen=True):
    """Peers that mDNS cannot find, as `host:port`."""

    static: tuple[str, ...] = ()


class MdnsSettings(_Section, frozen=True):
    """Finding peers on the local network."""

    enabled: bool = True


class MailboxSettings(_Section, frozen=True):
    """Mailboxes, for devices that are never online together: how often to look, and how to seal.

    Small changes gather for `gather_s` seconds, unless somebody waits for one: a proposal, an ask, a verdict,
    a use, or who is a member. `hybrid` seals by ML-KEM-768 and X25519, `x25519` by X25519 alone, which takes
    a kilobyte less for each device and change. With `renew_days` this device makes a new key after so many
    days, also while it runs.
    """

    look_s: Annotated[float, Meta(ge=0.05, le=86400)] = 5.0
    gather_s: Seconds = 60.0
    suite: Literal["hybrid", "x25519"] = "hybrid"
    renew_days: Count | None = None


Price = Annotated[float, Meta(ge=0, le=1e5)] | None


Tokens = Annotated[int, Meta(ge=256, le=10_000_000)]


class ServerSettings(_Section, frozen=True):
    """A model at a server: where it is, how it is asked, and what a million tokens cost there.

    Cached tokens cost as much as input if nothing is given. `extra` is a table that is sent with each request
    as it stands, for what only this server knows. An answer may have `max_output_tokens` and take `timeout_s`
    seconds. With `context_tokens` the task is cut to fit a model that reads no more than that.
    """

    base_url: str = ""
    name: str = ""
    mode: Literal["auto", "tools", "actions", "pieces"] = "auto"
    key_file: str = ""
    price_input: Price = None
    price_output: Price = None
    price_cached: Price = None
    temperature: Annotated[float, Meta(ge=0, le=2)] = 0.2
    max_output_tokens: Tokens = 8192
    context_tokens: Tokens | None = None
    timeout_s: Annotated[float, Meta(ge=1, le=86400)] = 240.0
    extra: dict[str, Any] = {}


class ModelSettings(ServerSettings, frozen=True):
    """Who answers for an agent: `rules`, or a model at a server, with what a million tokens cost there.

    Cached tokens cost as much as input if nothing is given. `extra` is a table that is sent with each
    request as it stands, for what only this server knows. An answer may have `max_output_tokens` and take
    `timeout_s` seconds. With `context_tokens` the task is cut to fit a model that reads no more than that.
    With `fallback = "rules"`, the rules answer while the server is away, if nothing that it answers can be
    used, or once the budget is spent. Tasks of `local_only_categories` are never sent to another machine:
    the rules answer for them.
    """

    kind: Literal["rules", "openai"] = "rules"
    fallback: Literal["", "rules"] = ""
    local_only_categories: tuple[str, ...] = ()


class WakeSettings(_Section, frozen=True):
    """When an agent runs. No throttle given means 5 s with `rules` and 120 s with a remote model."""

    debounce_s: Seconds = 2.0
    throttle_s: Seconds | None = None
    concurrency: Count = 3
    run_max_s: Seconds = 600.0


class NewAgentSettings(_Section, frozen=True):
    """The agent of each task that is added on this device: of these categories, or of all if there are none.

    Imported tasks get none: `placet agent create --all` gives it to them.
    """

    for_new_tasks: bool = False
    categories: tuple[str, ...] = ()
    mode: Literal["autonomous", "hybrid", "interactive"] = "autonomous"


class ProposalSettings(_Section, frozen=True):
    """How long a proposal stays open, how many fit in a set, and how many are put before a person at once.

    Of the open proposals that one agent made on one day (UTC), `open_per_day` are listed among those of the
    other agents. The rest waits behind them, and is counted.
    """

    lifetime_s: Seconds = 7 * 86400.0
    per_set: Count = 10
    open_per_day: Count = 50


class SovereigntySettings(_Section, frozen=True):
    """How long a reason must be before an agent may propose against what a person set."""

    reason_min: Annotated[int, Meta(ge=0)] = 20


class BudgetSettings(_Section, frozen=True):
    """What models may cost this device a day, in the currency of their prices. Nothing given: no limit."""

    cost_per_day: Annotated[float, Meta(ge=0, le=1e9)] | None = None


class HistorySettings(_Section, frozen=True):
    """How long history is kept, and what agents said and called. Nothing given: for ever."""

    retention_days: Count | None = None
    agent_texts_days: Count | None = None


class DiskSettings(_Section, frozen=True):
    """The free space below which new writes are refused."""

    floor_mib: Annotated[int, Meta(ge=0, le=1 << 30)] = 64


HostName = Annotated[str, Meta(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?$", max_length=255)]


class WebSettings(_Section, frozen=True):
    """The page in a browser. Port 0 means any free one, which is kept from start to start.

    The page is served to this machine alone. `hosts` are further names under which a proxy with a certificate
    passes it on, such as `laptop.example.net`.
    """

    enabled: bool = True
    port: Port = 0
    hosts: tuple[HostName, ...] = ()


class Settings(_Section, frozen=True):
    """Everything that can be set."""

    device: DeviceSettings = DeviceSettings()
    listen: ListenSettings = ListenSettings()
    peers: PeerSettings = PeerSettings()
    mdns: MdnsSettings = MdnsSettings()
    mailbox: MailboxSettings = MailboxSettings()
    model: ModelSettings = ModelSettings()
    models: dict[Annotated[str, Meta(pattern="^[a-z][a-z0-9_-]{0,31}$")], ServerSettings] = {}
    """Further models at servers, by the names that agents know them by."""
    wake: WakeSettings = WakeSettings()
    agents: NewAgentSettings = NewAgentSettings()
    proposals: ProposalSettings = ProposalSettings()
    sovereignty: SovereigntySettings = SovereigntySettings()
    budget: BudgetSettings = BudgetSettings()
    history: HistorySettings = HistorySettings()
    disk: DiskSettings = DiskSettings()
    web: WebSettings = WebSettings()
    language: Literal["", "en", "de", "es", "fr", "ro"] = ""
    """How people read and write here. Nothing given: as the locale says."""


class ConfigError(Exception):
    """A setting that cannot be used; the message names its origin and the value."""

    def __init__(self, message: Sentence) -> None:
        self.sentence = message
        super().__init__(message.text)

    def sentence_json(self) -> dict[str, Any]:
        """Return the id and the parameters of the message, as an answer of the API contains them."""
        return {"id": self.sentence.id, "params": json_params(self.sentence)}


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and for each key that was set the place that set it."""

    settings: Settings
    origins: Mapping[str, str]


def keys() -> tuple[str, ...]:
    """Return every known key, as `section.name`."""
    return tuple(TYPES)


def load(file: Path, environment: Mapping[str, str], flags: Mapping[str, str]) -> LoadedSettings:
    """Read the settings. Raises ConfigError at the first key or value that cannot be used.

    `flags` maps keys to text; a missing file is an empty one.
    """
    return load_text(read_file(file), str(file), environment, flags)


def load_text(
    text: str, origin: str, environment: Mapping[str, str], flags: Mapping[str, str]
) -> LoadedSettings:
    """Read the settings, with `text` as the file that `origin` names. Raises ConfigError, as `load` does."""
    chosen: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, value, place in chain(
        _from_toml(text, origin), _from_environment(environment), _from_flags(flags)
    ):
        chosen[key], origins[key] = value, place
    tree: dict[str, Any] = {}
    for key, value in chosen.items():
        section, _, name = key.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[name] = value
    return LoadedSettings(msgspec.convert(tree, Settings), origins)


def value_of(settings: Settings, key: str) -> object:
    """Return the value of a known key."""
    section, _, name = key.rpartition(".")
    return getattr(getattr(settings, section) if section else settings, name)


def check_key(key: str, origin: str) -> None:
    """Raise ConfigError, with the nearest known one, for a key that is unknown."""
    _check_name(key, TYPES, origin)


def parse_value(key: str, text: str, origin: str) -> object:
    """Read a value as it is written outside of the file. Raises ConfigError for what cannot be used."""
    return _from_text(_check_name(key, TYPES, origin), text, origin)


def read_file(file: Path) -> str:
    """Return the text of a settings file, empty if there is none; wait for no pipe. Raises ConfigError."""
    try:
        # Without waiting: a pipe that nobody writes to would keep every command from starting.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened:
            is_pipe = stat.S_ISFIFO(os.fstat(opened.fileno()).st_mode)
            raw = b"" if is_pipe else opened.read(FILE_BYTES_MAX + 1)
        if is_pipe or len(raw) > FILE_BYTES_MAX:
            too_long = sentence(
                "settings-no-file", "it is no file of at most {most} KiB", most=FILE_BYTES_MAX >> 10
            )
            raise ConfigError(cannot_be_read(str(file), too_long))
        return raw.decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(cannot_be_read(str(file), error)) from error


def check_toml(text: str, origin: str) -> None:
    """Raise ConfigError at the first key or value of a file that cannot be used."""
    for _ in _from_toml(text, origin):
        pass


def cannot_be_read(origin: str, reason: object) -> Sentence:
    """Return that settings cannot be read; `reason` is a sentence, or what the system or parser reported."""
    return sentence(
        "settings-unreadable",
        "{origin}: cannot be read: {reason}",
        origin=origin,
        reason=reason if isinstance(reason, Sentence) else str(reason),
    )


def _leaves() -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        if isinstance(hint, type) and issubclass(hint, _Section):
            for leaf, inner in get_type_hints(hint, include_extras=True).items():
                yield f"{name}.{leaf}", inner
        else:
            yield name, hint


TYPES: Mapping[str, Any] = dict(_leaves())
"""The type of each key, with its bounds."""
_SECTIONS = frozenset(Settings.__struct_fields__)
_BY_VARIABLE = {VARIABLE_PREFIX + key.upper().replace(".", "_"): key for key in TYPES}


def _from_toml(text: str, origin: str) -> Iterator[tuple[str, object, str]]:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(cannot_be_read(origin, error)) from error
    except (ValueError, RecursionError) as error:
        # The parser checks neither how many digits a number has nor how deep a value is.
        raise ConfigError(cannot_be_read(origin, _BEYOND_BOUNDS)) from error
    for key, value in _flat(tree, ""):
        yield _check_name(key, TYPES, origin), _convert(key, value, origin, strict=True), origin


def _flat(tree: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict) and not prefix and not _is_table(name) and (value or name in _SECTIONS):
            yield from _flat(value, f"{name}.")
        else:
            yield prefix + name, value


def _is_table(key: str) -> bool:
    return get_origin(TYPES.get(key)) is dict


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    for variable, text in sorted(environment.items()):
        if variable.startswith(VARIABLE_PREFIX) and variable not in OTHER_VARIABLES:
            key = _BY_VARIABLE[_check_name(variable, _BY_VARIABLE, "the environment")]
            yield key, _from_text(key, text, variable), variable


def _from_flags(flags: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    for key, text in flags.items():
        yield (
            _check_name(key, TYPES, "the command line"),
            _from_text(key, text, "the command line"),
            "flag",
        )


_BEYOND_BOUNDS = sentence(
    "settings-beyond-bounds", "a number has too many digits, or a value is nested too deeply"
)


def _is_within_bounds(value: object) -> bool:
    """Return whether a value is nested no deeper than DEPTH_MAX, with whole numbers of 128 bits at most."""
    level = [value]
    for _ in range(DEPTH_MAX):
        if any(isinstance(member, int) and member.bit_length() > _INT_BITS_MAX for member in level):
            return False
        level = [inner for member in level for inner in _members(member)]
        if not level:
            return True
    return False


def _members(value: object) -> Iterable[object]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_json(value: object) -> bool:
    """Return whether JSON can contain a value: no dates, and no numbers without end."""
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return False
    return True


def _beginning(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS_MAX else text[:SHOWN_CHARS_MAX] + "…"


def _check_name(name: str, settings: Mapping[str, object], origin: str) -> str:
    if name in settings:
        return name
    name = _beginning(name)
    near = difflib.get_close_matches(name, settings, n=1)
    if not near:
        raise ConfigError(
            sentence("setting-unknown", "{origin}: unknown setting {name!r}", origin=origin, name=name)
        )
    raise ConfigError(
        sentence(
            "setting-unknown-nearest",
            "{origin}: unknown setting {name!r}; the nearest known one is {near!r}",
            origin=origin,
            name=name,
            near=near[0],
        )
    )


_NEEDED = (
    ("float", sentence("number-is-needed", "a number is needed")),
    ("int", sentence("whole-number-is-needed", "a whole number is needed")),
    ("bool", sentence("true-or-false-is-needed", "true or false is needed")),
)


def _from_text(key: str, text: str, origin: str) -> object:
    # Python represents bytes that are not UTF-8 as lone surrogates.
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise ConfigError(_unusable(origin, key, text, sentence("setting-not-utf8", "not UTF-8")))
    value: object = text
    if get_origin(TYPES[key]) is tuple:
        value = [part.strip() for part in text.split(",") if part.strip()]
    elif _is_table(key):
        value = _table_of(key, text, origin)
    try:
        return _convert(key, value, origin, strict=False)
    except ConfigError as error:
        needed = (words for kind, words in _NEEDED if f"Expected `{kind}`, got `str`" in str(error))
        problem = next(needed, None)
        if problem is not None:
            raise ConfigError(_unusable(origin, key, text, problem)) from error
        raise


def _table_of(key: str, text: str, origin: str) -> object:
    """Read a table that is written as JSON outside of the file."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        problem = sentence("json-table-is-needed", "a table in JSON is needed")
        raise ConfigError(_unusable(origin, key, text, problem)) from error


def _convert(key: str, value: object, origin: str, *, strict: bool) -> object:
    if not _is_within_bounds(value):
        raise ConfigError(cannot_be_read(f"{origin}: {key}", _BEYOND_BOUNDS))
    if _is_table(key) and not _is_json(value):
        problem = sentence("json-value-is-needed", "it may contain only what JSON can")
        raise ConfigError(_unusable(origin, key, value, problem))
    try:
        return msgspec.convert(value, TYPES[key], strict=strict)
    except msgspec.ValidationError as error:
        choices = [choice for choice in get_args(TYPES[key]) if isinstance(choice, str) and choice]
        problem = (
            sentence("one-is-needed", "one of {choices} is needed", choices=", ".join(choices))
            if choices
            else foreign_text(str(error))
        )
        raise ConfigError(_unusable(origin, key, value, problem)) from error


def _unusable(origin: str, key: str, value: object, problem: Sentence) -> Sentence:
    return sentence(
        "setting-unusable",
        "{origin}: {key} = {value}: {problem}",
        origin=origin,
        key=key,
        value=_beginning(repr(value)),
        problem=problem,
    )
