"""Where a mailbox at NATS is: servers, a stream, and what the stream is made with.

Never opens a connection.
"""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from daemon.peers.mailboxes.carrier import BadPlace, given_path
from daemon.peers.transport import addresses
from store.sentence import sentence

PLACE_CHARS_MAX = 1024
SERVERS_MAX = 16
PORT = 4222
QUOTA_MIB = 1024
QUOTA_MIB_MAX = 1 << 20
REPLICAS = (1, 3, 5)
FORM = "tls://HOST:PORT,HOST:PORT/STREAM?replicas=3&ca=FILE"
_URL = re.compile(r"(nats|tls)://([^/?#]*)([^#]*)", re.DOTALL)
_STREAM = re.compile(r"/[a-z0-9][a-z0-9-]{0,62}")
_FILES = ("ca", "certificate", "key")


class NatsPlace(NamedTuple):
    """The servers as URLs without a secret, the stream, how often it is kept, and its quota in MiB.

    `ca`, `certificate` and `key` are absolute paths of PEM files on this device, empty for none.
    """

    servers: tuple[str, ...]
    stream: str
    replicas: int = 1
    mib: int = QUOTA_MIB
    ca: str = ""
    certificate: str = ""
    key: str = ""

    @property
    def has_tls(self) -> bool:
        """Return whether the servers have to show a certificate before the secret is sent."""
        return self.servers[0].startswith("tls:")

    @property
    def is_safe(self) -> bool:
        """Return whether the secret goes there sealed, or stays on this machine."""
        return self.has_tls or all(_is_loopback(urlsplit(server).hostname or "") for server in self.servers)

    @property
    def text(self) -> str:
        """Return the place in the words of a person, without what it is made with."""
        return ",".join(server.partition("://")[2] for server in self.servers) + "/" + self.stream


def parse_place(text: str) -> NatsPlace:
    """Read `tls://HOST:PORT,HOST:PORT/STREAM?replicas=N&mib=N&ca=FILE`. Raises BadPlace."""
    try:
        place = _parse(text) if len(text) <= PLACE_CHARS_MAX and text.isprintable() else None
    except BadPlace:
        raise
    except ValueError:
        place = None
    if place is None:
        raise BadPlace(
            sentence("relay-place", "{place} is not of the form {form}", place=text[:80], form=FORM)
        )
    return place


def _parse(text: str) -> NatsPlace | None:
    url = _URL.fullmatch(text)
    if url is None:
        return None
    scheme, hosts, rest = url.groups()
    # Not every version of Python splits a URL that names several servers, some of them by [address].
    parts = urlsplit(f"{scheme}://servers{rest}")
    if not _STREAM.fullmatch(parts.path):
        return None
    servers = [_server(scheme, host) for host in hosts.split(",")]
    if None in servers or len(servers) > SERVERS_MAX:
        return None
    words = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), max_num_fields=5)
    fields = dict(words)
    files = {name: fields.pop(name, "") for name in _FILES}
    replicas = int(fields.pop("replicas", "1"))
    mib = int(fields.pop("mib", str(QUOTA_MIB)))
    for file in filter(None, files.values()):
        given_path(file)
    has_half_a_key = bool(files["certificate"]) != bool(files["key"])
    has_files_in_vain = scheme != "tls" and any(files.values())
    if fields or len(words) != len(dict(words)) or has_half_a_key or has_files_in_vain:
        return None
    if replicas not in REPLICAS or not 0 < mib <= QUOTA_MIB_MAX:
        return None
    named = tuple(server for server in servers if server is not None)
    return NatsPlace(named, parts.path[1:], replicas, mib, files["ca"], files["certificate"], files["key"])


def _server(scheme: str, host: str) -> str | None:
    """Return the URL of one server, None if the text names none. Raises ValueError."""
    parts = urlsplit(f"{scheme}://{host}")
    if not parts.hostname or "@" in host or not host.isascii() or parts.port == 0:
        return None
    return f"{scheme}://{host}" if parts.port is not None else f"{scheme}://{host.rstrip(':')}:{PORT}"


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or addresses.is_loopback_host(host)
    except ValueError:
        return False
