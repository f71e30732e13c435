"""The settings: flag before environment before `config.toml` before default.

Never reads the model's key, writes a file, or accepts a key that it does not know.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct

ENVIRONMENT = "PLACET_"
NOT_SETTINGS = frozenset({"PLACET_HOME", "PLACET_MODEL_KEY"})
"""Variables that mean something else: where everything lives, and the secret that is no setting."""

Port = Annotated[int, Meta(ge=0, le=65535)]
# Numbers have an end: `inf` is one to TOML, and no time that can be counted to.
Count = Annotated[int, Meta(ge=1, le=100_000)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `config.toml`."""


class Device(_Section, frozen=True):
    """This device, as people see it. An empty name means the host's."""

    name: Annotated[str, Meta(max_length=64)] = ""


class Listen(_Section, frozen=True):
    """Where peers connect: an address of this machine, nothing for all of them. Port 0 means any free one."""

    host: str = ""
    port: Port = 0


class Peers(_Section, frozen=True):
    """Peers that mDNS cannot find, as `host:port`."""

    static: tuple[str, ...] = ()


class Mdns(_Section, frozen=True):
    """Finding peers on the local network."""

    enabled: bool = True


Price = Annotated[float, Meta(ge=0, le=1e5)] | None


class Model(_Section, frozen=True):
    """Who answers for an agent, and what a million tokens cost there; cached ones cost as much as input."""

    kind: Literal["rules", "openai"] = "rules"
    base_url: str = ""
    name: str = ""
    mode: Literal["auto", "tools", "actions"] = "auto"
    key_file: str = ""
    price_input: Price = None
    price_output: Price = None
    price_cached: Price = None


class Wake(_Section, frozen=True):
    """When an agent runs. No throttle given means 5 s with `rules` and 120 s with a remote model."""

    debounce_s: Seconds = 2.0
    throttle_s: Seconds | None = None
    concurrency: Count = 3
    run_max_s: Seconds = 600.0


class Proposals(_Section, frozen=True):
    """How long a proposal stays open, and how many fit in a set."""

    lifetime_s: Seconds = 7 * 86400.0
    per_set: Count = 10


class Sovereignty(_Section, frozen=True):
    """How long a reason must be before an agent may propose against what a person set."""

    reason_min: Annotated[int, Meta(ge=0)] = 20


class Budget(_Section, frozen=True):
    """What models may cost this device a day, in the currency of their prices. Nothing given: no limit."""

    cost_per_day: Annotated[float, Meta(ge=0, le=1e9)] | None = None


class History(_Section, frozen=True):
    """How long history is kept. Nothing given: for ever."""

    retention_days: Count | None = None


class Disk(_Section, frozen=True):
    """The free space below which new writes are refused."""

    floor_mib: Annotated[int, Meta(ge=0, le=1 << 30)] = 64


class Settings(_Section, frozen=True):
    """Everything that can be set."""

    device: Device = Device()
    listen: Listen = Listen()
    peers: Peers = Peers()
    mdns: Mdns = Mdns()
    model: Model = Model()
    wake: Wake = Wake()
    proposals: Proposals = Proposals()
    sovereignty: Sovereignty = Sovereignty()
    budget: Budget = Budget()
    history: History = History()
    disk: Disk = Disk()
    language: Literal["", "en", "de", "es", "fr", "ro"] = ""
    """How people read and write here. Nothing given: as the locale says."""


class ConfigError(Exception):
    """A setting that cannot be used; the message names where it came from and what was seen."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and for each key that was set the place that set it."""

    settings: Settings
    origins: Mapping[str, str]


def keys() -> tuple[str, ...]:
    """Return every known key, as `section.name`."""
    return tuple(_TYPES)


def load(file: Path, environment: Mapping[str, str], flags: Mapping[str, str]) -> Loaded:
    """Read the settings. Raises ConfigError at the first key or value that cannot be used.

    `flags` maps keys to text; a missing file is an empty one.
    """
    chosen: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, value, origin in [*_from_file(file), *_from_environment(environment), *_from_flags(flags)]:
        chosen[key] = value
        origins[key] = origin
    tree: dict[str, Any] = {}
    for key, value in chosen.items():
        section, _, name = key.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[name] = value
    return Loaded(msgspec.convert(tree, Settings), origins)


def value_of(settings: Settings, key: str) -> object:
    """Return the value of a known key."""
    section, _, name = key.rpartition(".")
    return getattr(getattr(settings, section) if section else settings, name)


def check_key(key: str, origin: str) -> None:
    """Raise ConfigError, with the nearest known one, for a key that is unknown."""
    _known(key, _TYPES, origin)


def from_text(key: str, text: str, origin: str) -> object:
    """Read a value as it is written outside of the file. Raises ConfigError for what cannot be used."""
    return _from_text(_known(key, _TYPES, origin), text, origin)


def check_toml(text: str, origin: str) -> None:
    """Raise ConfigError at the first key or value of a file that cannot be used."""
    for _ in _from_toml(text, origin):
        pass


def _leaves() -> Iterator[tuple[str, Any]]:
    for name, hint in get_type_hints(Settings, include_extras=True).items():
        if isinstance(hint, type) and issubclass(hint, _Section):
            for leaf, inner in get_type_hints(hint, include_extras=True).items():
                yield f"{name}.{leaf}", inner
        else:
            yield name, hint


_TYPES: Mapping[str, Any] = dict(_leaves())
_BY_VARIABLE = {ENVIRONMENT + key.upper().replace(".", "_"): key for key in _TYPES}


def _from_file(file: Path) -> Iterator[tuple[str, object, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file}: cannot be read: {error}") from error
    yield from _from_toml(text, str(file))


def _from_toml(text: str, origin: str) -> Iterator[tuple[str, object, str]]:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{origin}: cannot be read: {error}") from error
    for key, value in _flat(tree, ""):
        yield _known(key, _TYPES, origin), _checked(key, value, origin, strict=True), origin


def _flat(tree: Mapping[str, object], prefix: str) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, dict) and not prefix and (value or name in Settings.__struct_fields__):
            yield from _flat(value, f"{name}.")
        else:
            yield prefix + name, value


def _from_environment(environment: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    for variable, text in sorted(environment.items()):
        if variable.startswith(ENVIRONMENT) and variable not in NOT_SETTINGS:
            key = _BY_VARIABLE[_known(variable, _BY_VARIABLE, "the environment")]
            yield key, _from_text(key, text, variable), variable


def _from_flags(flags: Mapping[str, str]) -> Iterator[tuple[str, object, str]]:
    for key, text in flags.items():
        yield _known(key, _TYPES, "the command line"), _from_text(key, text, "the command line"), "flag"


def _known(name: str, known: Mapping[str, object], origin: str) -> str:
    if name in known:
        return name
    near = difflib.get_close_matches(name, known, n=1)
    told = f"; the nearest known one is {near[0]!r}" if near else ""
    raise ConfigError(f"{origin}: unknown setting {name!r}{told}")


_IN_WORDS = (("float", "a number"), ("int", "a whole number"), ("bool", "true or false"))


def _from_text(key: str, text: str, origin: str) -> object:
    if any("\ud800" <= one <= "\udfff" for one in text):  # bytes that are not UTF-8, as Python hands them on
        raise ConfigError(f"{origin}: {key} = {text!r}: not UTF-8")
    listed = _TYPES[key] == tuple[str, ...]
    value = [part.strip() for part in text.split(",") if part.strip()] if listed else text
    try:
        return _checked(key, value, origin, strict=False)
    except ConfigError as error:
        if needed := next(
            (said for kind, said in _IN_WORDS if f"Expected `{kind}`, got `str`" in str(error)), ""
        ):
            raise ConfigError(f"{origin}: {key} = {text!r}: {needed} is needed") from error
        raise


def _checked(key: str, value: object, origin: str, *, strict: bool) -> object:
    try:
        return msgspec.convert(value, _TYPES[key], strict=strict)
    except msgspec.ValidationError as error:
        words = [one for one in get_args(_TYPES[key]) if isinstance(one, str) and one]
        told = f"one of {', '.join(words)} is needed" if words else error
        raise ConfigError(f"{origin}: {key} = {value!r}: {told}") from error
