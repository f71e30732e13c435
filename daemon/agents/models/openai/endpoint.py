"""Where a remote model answers, and with which key: read and checked before the daemon begins.

Never shows the key, and never accepts an address that would send it or a note in the clear.
"""

import ipaddress
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from daemon.config import ConfigError, ServerSettings
from daemon.text_comparison import comparison_key
from store.sentence import Sentence, sentence

KEY_VARIABLE = "PLACET_MODEL_KEY"
CREDENTIALS_VARIABLE = "CREDENTIALS_DIRECTORY"
CREDENTIAL_NAME = "model_key"
KEY_BYTES_MAX = 4096
ADDRESS_CHARS_MAX = 2000
REDACTED_CHARS_MIN = 8
KEY_PLACEHOLDER = "[key removed]"

# No user, query, fragment or backslash: nothing in which two readers could see different hosts.
_ADDRESS = re.compile(r"https?://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?(?:/[A-Za-z0-9._~/%-]*)?")
_KEY = re.compile(r"[\x21-\x7e]+")
_EXAMPLE = "an address such as https://api.openai.com/v1 or http://127.0.0.1:8080/v1"


RequestMode = Literal["auto", "tools", "actions", "pieces"]


class KeyRedactor:
    """Takes the key out of whatever a server sends back. Shorter than 8 characters, it is no secret."""

    __slots__ = ("_key",)

    def __init__(self, key: str) -> None:
        self._key = key if len(key) >= REDACTED_CHARS_MIN else ""

    def redact_text(self, text: str) -> str:
        """Return a text without the key."""
        return text.replace(self._key, KEY_PLACEHOLDER) if self._key else text

    def redact_json(self, value: Any) -> Any:
        """Return a JSON value without the key, in names and in values; its depth must be bounded."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, list):
            return [self.redact_json(member) for member in value]
        if isinstance(value, dict):
            return {self.redact_text(str(key)): self.redact_json(member) for key, member in value.items()}
        return value


@dataclass(frozen=True, slots=True)
class RequestSettings:
    """What a person sets of each request; None is left to the server.

    `extra` is sent as it stands. `context_tokens` is how much the model reads and writes together,
    `timeout_s` how long one answer may take.
    """

    temperature: float | None = None
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    timeout_s: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server, the model there, how it is asked, and the key, which is in no repr.

    `key_from` names the place that the key was read from; it is empty if there is no key. Tasks of the
    categories in `withheld_categories` (comparison keys of names) must not be sent to it.
    """

    base_url: str
    model: str
    mode: RequestMode
    key: str = field(repr=False, default="")
    key_from: str = ""
    requests: RequestSettings = RequestSettings()
    withheld_categories: frozenset[str] = frozenset()

    @property
    def is_this_machine(self) -> bool:
        """Return whether what is sent there stays on this machine."""
        return is_loopback(urlsplit(self.base_url).hostname or "")

    @property
    def redactor(self) -> KeyRedactor:
        """Return a redactor that removes this endpoint's key from texts."""
        return KeyRedactor(self.key)


RESERVED_FIELDS = frozenset({"messages", "model", "tools", "tool_choice", "response_format", "stream", "n"})
"""What `model.extra` must not contain: what is sent, and how the answer comes, are not a setting."""


def read_endpoint(
    settings: ServerSettings,
    environment: Mapping[str, str],
    *,
    withheld: Iterable[str] = (),
    named: str = "",
) -> Endpoint:
    """Read the endpoint from the settings and the key from its place. Raises ConfigError.

    `withheld` are names of categories that must not leave this machine. `named` is the name of a further
    model; its key is in its file alone, so that no server gets the key of another.
    """
    table = f"models.{named}" if named else "model"
    _check_address(settings.base_url, table)
    if not settings.name.strip():
        raise ConfigError(
            sentence(
                "model-name-missing",
                "{table}.name is empty; give the name that the server knows the model by",
                table=table,
            )
        )
    reserved = sorted(RESERVED_FIELDS.intersection(settings.extra))
    if reserved:
        raise ConfigError(
            sentence(
                "model-extra-reserved", "{table}.extra must not contain {name}", table=table, name=reserved[0]
            )
        )
    key, key_from = _key(settings, {} if named else environment, table)
    requests = RequestSettings(
        settings.temperature,
        settings.max_output_tokens,
        settings.context_tokens,
        settings.timeout_s,
        settings.extra,
    )
    endpoint = Endpoint(settings.base_url, settings.name.strip(), settings.mode, key, key_from, requests)
    if endpoint.is_this_machine:
        return endpoint
    return replace(endpoint, withheld_categories=frozenset(comparison_key(name) for name in withheld))


# -- the address --------------------------------------------------------------------------------------


def _check_address(text: str, table: str) -> None:
    """Raise ConfigError unless the address is plain, and encrypted or this machine's own.

    What does not look like an address is not shown: it may contain a password.
    """
    if not text:
        raise ConfigError(
            sentence(
                "model-address-missing",
                "{table}.base_url is empty; give {example}",
                table=table,
                example=_EXAMPLE,
            )
        )
    if len(text) > ADDRESS_CHARS_MAX or not _ADDRESS.fullmatch(text):
        raise ConfigError(
            sentence(
                "model-address-unplain",
                "{table}.base_url is no plain http or https address; give {example}",
                table=table,
                example=_EXAMPLE,
            )
        )
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname or "", parts.port
    except ValueError as fault:
        raise ConfigError(
            sentence(
                "model-address-faulty",
                "{table}.base_url = {written!r}: {fault}",
                table=table,
                written=text,
                fault=str(fault),
            )
        ) from None
    if parts.scheme != "https" and not is_loopback(host):
        raise ConfigError(
            sentence(
                "model-address-unencrypted",
                "{table}.base_url = {written!r}: http would send notes in the clear;"
                " use https, or 127.0.0.1, ::1 or localhost",
                table=table,
                written=text,
            )
        )


def is_loopback(host: str) -> bool:
    """Say whether a host is this machine, literally: no name but `localhost` is trusted to be."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_loopback
    return address == ipaddress.IPv6Address("::1")


# -- the key ------------------------------------------------------------------------------------------


def _key(settings: ServerSettings, environment: Mapping[str, str], table: str) -> tuple[str, str]:
    """Read the key and name its place: environment before credential before file; both empty without one."""
    if environment.get(KEY_VARIABLE, "").strip():
        return _require_key(environment[KEY_VARIABLE], KEY_VARIABLE), KEY_VARIABLE
    folder = environment.get(CREDENTIALS_VARIABLE, "")
    if folder and (Path(folder) / CREDENTIAL_NAME).is_file():
        place = f"the credential {CREDENTIAL_NAME}"
        return _from_file(Path(folder) / CREDENTIAL_NAME, place, is_private=True), place
    if settings.key_file:
        place = f"{table}.key_file"
        try:
            file = Path(settings.key_file).expanduser()
        except (RuntimeError, ValueError) as fault:  # there is no such user, or its name has a NUL
            raise ConfigError(_unreadable_key_file(place, settings.key_file, fault)) from None
        return _from_file(file, place, is_private=False), f"{place} ({file})"
    return "", ""


def _from_file(file: Path, place: str, *, is_private: bool) -> str:
    """Read a key from a file. What systemd hands over is private by itself; a person's file must be."""
    try:
        # Without waiting: a pipe that nobody writes to would keep the daemon from starting.
        with open(file, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as opened:
            # Of the open file, not of its path: nobody can exchange the file between the check and the
            # reading.
            status = os.fstat(opened.fileno())
            raw = opened.read(KEY_BYTES_MAX + 1) if stat.S_ISREG(status.st_mode) else b""
    except OSError as fault:
        raise ConfigError(_unreadable_key_file(place, str(file), fault.strerror)) from None
    except ValueError as fault:  # no path contains a NUL
        raise ConfigError(_unreadable_key_file(place, str(file), fault)) from None
    mode = stat.S_IMODE(status.st_mode)
    if not is_private and mode & 0o077:
        raise ConfigError(
            sentence(
                "model-key-file-open",
                "{place}: {file} is open to others (mode {mode}); run: chmod 600 {file}",
                place=place,
                file=str(file),
                mode=f"{mode:04o}",
            )
        )
    try:
        return _require_key(raw.decode("ascii"), f"{place}: {file}")
    except UnicodeDecodeError:
        raise ConfigError(_no_key(f"{place}: {file}")) from None


def _unreadable_key_file(place: str, file: str, reason: object) -> Sentence:
    return sentence(
        "model-key-file-unreadable",
        "{place}: {file} cannot be read: {reason}",
        place=place,
        file=file,
        reason=str(reason),
    )


def _no_key(place: str) -> Sentence:
    return sentence(
        "place-holds-no-key", "{place} does not contain a key: one line of printable ASCII", place=place
    )


def _require_key(text: str, place: str) -> str:
    key = text.strip()
    if len(text) > KEY_BYTES_MAX or not _KEY.fullmatch(key):
        raise ConfigError(_no_key(place))
    return key
