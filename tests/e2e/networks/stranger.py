"""A stranger at a device's port: connects as told, and prints as JSON what it was answered.

Stands on its own: `python stranger.py KIND HOST PORT [CERTIFICATE | SOURCE...]` runs in a namespace. "idle"
holds 200 connections that say nothing until its standard input ends, makes each anew that is closed, and
prints, for each line that it reads, the fewest that were open since the last; "share" says how many stay.
"""

import json
import select
import selectors
import socket
import ssl
import sys
import time

LIMIT_S = 60.0
IDLE = 200
SPREAD_S = 5.0
SETTLED_S = 0.5
AGAIN_S = 0.5
"""What was closed before it had settled was turned away, and is made anew no more often than this."""
QUIET_S = 2.0
"""Less than a daemon waits for a handshake to go on."""
REQUEST = (
    b"GET /v1/link HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)


def raw(place: tuple[str, int], words: bytes) -> str:
    """Say bytes that are no TLS; return what was answered."""
    with socket.create_connection(place, LIMIT_S) as line:
        try:
            line.sendall(words)
            return line.recv(4096).hex()
        except OSError as fault:
            return type(fault).__name__


def secret(place: tuple[str, int], name: str, certificate: str | None) -> str:
    """Ask for a link over TLS; return what was answered, or what the handshake failed of."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(certificate)
    try:
        with (
            socket.create_connection(place, LIMIT_S) as line,
            context.wrap_socket(line, server_hostname=name) as speech,
        ):
            # The server's verdict on a certificate comes after the client's side of the handshake.
            speech.sendall(REQUEST)
            return speech.recv(4096).decode("latin-1")
    except OSError as fault:
        return f"{type(fault).__name__} {getattr(fault, 'reason', '') or ''}"


def resumed(place: tuple[str, int], certificate: str) -> None:
    """Link as a member, keep the session; told to go on, try it again, and the key alone."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(certificate)
    with (
        socket.create_connection(place, LIMIT_S) as line,
        context.wrap_socket(line, server_hostname="link.placet") as speech,
    ):
        speech.sendall(REQUEST)
        print(json.dumps(speech.recv(4096).decode("latin-1")), flush=True)
        saved = speech.session
        sys.stdin.readline()
    for session in (saved, None):
        print(json.dumps(_again(place, context, session)), flush=True)


def _again(place: tuple[str, int], context: ssl.SSLContext, session: ssl.SSLSession | None) -> str:
    try:
        with (
            socket.create_connection(place, LIMIT_S) as line,
            context.wrap_socket(line, server_hostname="link.placet", session=session) as speech,
        ):
            speech.sendall(REQUEST)
            return speech.recv(4096).decode("latin-1")
    except OSError as fault:
        return type(fault).__name__


def crowd(place: tuple[str, int], sources: list[str]) -> list[socket.socket]:
    """Make very many connections, from one's several addresses."""
    stored = []
    for number in range(IDLE):
        source = sources[number % len(sources)]
        try:
            stored.append(socket.create_connection(place, LIMIT_S, (source, 0)))
        except OSError:
            # Turned away at once: so be it.
            continue
    return stored


class Crowd:
    """Very many connections that are made anew, from the same address, as soon as they are closed."""

    def __init__(self, place: tuple[str, int], sources: list[str]) -> None:
        self._place = place
        self._sources = [sources[number % len(sources)] for number in range(IDLE)]
        self._lines = selectors.DefaultSelector()
        self._since = [0.0] * IDLE
        # Not all at once, or all would end at once.
        now_s = time.monotonic()
        self._due_s = {number: now_s + number / IDLE * SPREAD_S for number in range(IDLE)}
        self._held: set[int] = set()

    def hold(self, wait_s: float) -> int:
        """Go on for a moment; return how many are open, or were until a moment ago."""
        now_s = time.monotonic()
        for number in [element for element, due_s in self._due_s.items() if due_s <= now_s]:
            del self._due_s[number]
            self._call(number)
        for key, _ in self._lines.select(wait_s):
            number, line = key.data
            self._lines.unregister(line)
            line.close()
            self._note_end(number)
        now_s = time.monotonic()
        self._held |= {
            index for index in range(IDLE) if index not in self._due_s and self._settled(index, now_s)
        }
        return len(self._held)

    def _settled(self, number: int, now_s: float) -> bool:
        return now_s - self._since[number] > SETTLED_S

    def _call(self, number: int) -> None:
        source = self._sources[number]
        line = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET)
        line.bind((source, 0))
        line.setblocking(False)
        line.connect_ex(self._place)
        self._since[number] = time.monotonic()
        self._lines.register(line, selectors.EVENT_READ, (number, line))

    def _note_end(self, number: int) -> None:
        now_s = time.monotonic()
        if self._settled(number, now_s):
            self._due_s[number] = now_s
        else:
            self._held.discard(number)
            self._due_s[number] = now_s + AGAIN_S


def idle(place: tuple[str, int], sources: list[str]) -> None:
    """Hold very many connections, and say nothing to whom they lead."""
    calling, fewest = Crowd(place, sources), IDLE
    while True:
        count = calling.hold(0.02)
        fewest = min(fewest, count)
        if select.select([sys.stdin], [], [], 0)[0]:
            if not sys.stdin.readline():
                return
            print(json.dumps(fewest), flush=True)
            fewest = count


def share(place: tuple[str, int], sources: list[str]) -> str:
    """Return how many of very many connections are still open once no more are closed."""
    stored = crowd(place, sources)
    while ended := select.select(stored, [], [], QUIET_S)[0]:
        stored = [element for element in stored if element not in ended]
    return str(len(stored))


def main() -> None:
    """Do what is asked for."""
    kind, host, port, *rest = sys.argv[1:]
    place = (host, int(port))
    if kind == "idle":
        idle(place, rest)
        return
    if kind == "resumed":
        resumed(place, rest[0])
        return
    text = {
        "garbage": lambda: raw(place, bytes(range(256)) * 16),
        "http": lambda: raw(place, REQUEST),
        "nobody": lambda: secret(place, "link.placet", None),
        "foreign": lambda: secret(place, "link.placet", rest[0]),
        "newcomer": lambda: secret(place, "pair.placet", None),
        "share": lambda: share(place, rest),
        "other name": lambda: secret(place, "localhost", None),
    }[kind]()
    print(json.dumps(text))


if __name__ == "__main__":
    main()
