"""Cases for canonical MessagePack, commits and frames, each with the class of its outcome.

Never imports what they check. Each class is asserted against the second implementation's own reader.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from tests.vectors import portable, wire
from tests.vectors.commit_writer import CommitWriter, name_id, operation
from tests.vectors.wire import InvalidEncoding, pack

Case = dict[str, Any]
Labelled = Iterator[tuple[str, str, bytes]]
NAN, INFINITY = bytes.fromhex("cb7ff8000000000000"), bytes.fromhex("cb7ff0000000000000")
TASK = name_id("a task")


def outcome_of(read: Callable[[bytes], Any], raw: bytes) -> str:
    """Return the class of what a reader makes of bytes."""
    try:
        read(raw)
    except InvalidEncoding as fault:
        return fault.outcome
    return "ok"


def array(*parts: bytes) -> bytes:
    """Spell a short array from members that are spelled already."""
    return bytes([0x90 + len(parts)]) + b"".join(parts)


def put(values: list[Any], index: int, spelled: bytes) -> bytes:
    """Spell a short array with one member of it spelled otherwise."""
    return array(*(spelled if place == index else pack(value) for place, value in enumerate(values)))


# -- values -------------------------------------------------------------------------------------------

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**63 - 1,
    -1, -32, -33, -128, -129, -32_768, -32_769, -(2**31), -(2**31) - 1, -(2**63),
    0.0, -0.0, 1.0, 0.1, -1e300, 5e-324,
    "", "a" * 31, "a" * 32, "a" * 255, "a" * 256, "é€😀", "\x00",
    b"", b"\x00" * 255, b"\x01" * 256,
    [], [None] * 15, [None] * 16, {}, {"b": 1, "a": 2, "aa": 3, "B": 4, "é": 5, "": 6},
    {f"{n:02}": n for n in range(16)}, [[[{"deep": [b"\x01"]}]]],
)  # fmt: skip

_SPELLINGS: tuple[tuple[str, str, str], ...] = (
    ("text of 65 536 bytes", "ok", "db00010000" + "61" * 65_536),
    ("bytes of 65 536 bytes", "ok", "c600010000" + "00" * 65_536),
    ("an array of 65 536 items", "too-large", "dd00010000" + "c0" * 65_536),
    ("wide positive integer", "not-canonical", "cc01"),
    ("wide 16-bit integer", "not-canonical", "cd00ff"),
    ("wide 32-bit integer", "not-canonical", "ce0000ffff"),
    ("wide 64-bit integer", "not-canonical", "cf00000000ffffffff"),
    ("signed form of a positive integer", "not-canonical", "d07f"),
    ("wide negative integer", "not-canonical", "d0ff"),
    ("single-precision float", "not-canonical", "ca3f800000"),
    ("wide text length", "not-canonical", "d90161"),
    ("wide bytes length", "not-canonical", "c5000161"),
    ("wide array length", "not-canonical", "dc000101"),
    ("wide map length", "not-canonical", "de0001a16101"),
    ("keys out of order", "not-canonical", "82a16201a16102"),
    ("a key twice", "not-canonical", "82a16101a16101"),
    ("integer beyond 64 signed bits", "out-of-range", "cf8000000000000000"),
    ("not a number", "out-of-range", NAN.hex()),
    ("infinity", "out-of-range", INFINITY.hex()),
    ("bytes behind the end", "malformed", "0101"),
    ("nothing", "malformed", ""),
    ("cut short", "malformed", "a261"),
    ("array cut short", "malformed", "92c0"),
    ("array of four thousand million items", "malformed", "ddffffffff"),
    ("text of four thousand million bytes", "malformed", "dbffffffff61"),
    ("text that is not UTF-8", "malformed", "a1ff"),
    ("text with a lone surrogate", "malformed", "a3eda080"),
    ("integer as key", "malformed", "810101"),
    ("bytes as key", "malformed", "81c4016101"),
    ("nil as key", "malformed", "81c001"),
    ("the byte that is never used", "malformed", "c1"),
    ("extension", "malformed", "d40100"),
    ("timestamp", "malformed", "d6ff00000000"),
    ("what is left of a dropped value, where no field is", "malformed", "c72001" + "00" * 32),
    ("sixteen containers deep", "ok", "91" * 15 + "90"),
    ("seventeen containers deep", "out-of-range", "91" * 16 + "90"),
    ("fifteen hundred containers deep", "malformed", "91" * 1500 + "90"),
)


def _read_value(raw: bytes) -> None:
    wire.check_value(wire.unpack(raw, wire.COMMIT_ITEMS_MAX))


def values() -> list[Case]:
    """Return values with their one form, and bytes that are no value's."""
    ok: list[Case] = [
        {"value": portable.value(element), "bytes": portable.raw(pack(element)), "outcome": "ok"}
        for element in _VALUES
    ]
    spelled: list[Case] = []
    for name, outcome, digits in _SPELLINGS:
        assert outcome_of(_read_value, bytes.fromhex(digits)) == outcome, name
        spelled.append({"name": name, "bytes": portable.raw(bytes.fromhex(digits)), "outcome": outcome})
    return ok + spelled


# -- commits ------------------------------------------------------------------------------------------


def _good() -> list[tuple[str, list[Any]]]:
    """Return commits as they should be, each with a name."""
    anna, bea = CommitWriter("anna"), CommitWriter("bea")
    first = anna.write(operation(TASK, {"title": "Fix the login", "status": "OPEN"}))
    base = [first.head]
    agent = bea.commit(
        operation(TASK, {"title": "Fix the login bug"}, base=base, effect=name_id("an item"), by=1),
        operation(name_id("an entry"), {"text": "é€😀", "task_id": TASK, "n": -1, "x": 0.5}, kind="entry"),
        operation(
            name_id("unknown"), {}, kind="from-tomorrow", origin={"app": "old", "at": 12, "more": [None]}
        ),
    )
    agent[5] = [1, name_id("an agent")]
    title, bare = {"title": "x"}, operation(TASK, {})
    highest = [2, anna.replica, 2**63 - 1, bytes(32), [2**48 - 1, 2**32 - 1], [0, None], None, [bare]]
    early = CommitWriter("anna").commit(bare)
    early[1] = wire.replica_id(0, early[6], early[3])
    room = wire.COMMIT_BYTES_MAX - len(pack(anna.commit(operation(TASK, {"title": "x" * 70_000})))) + 70_000
    items = wire.COMMIT_ITEMS_MAX - wire.count(anna.commit(operation(TASK, {}))) - 3 * 2 - 2 * 4
    return [
        ("a first commit", CommitWriter("anna").commit(operation(TASK, {"title": "Fix", "status": "OPEN"}))),
        ("a second commit", anna.commit(operation(TASK, title, base=base))),
        ("an agent's commit with an effect, and a kind from a newer version", agent),
        ("an operation that writes no field", anna.commit(bare)),
        ("the highest counter and stamp", highest),
        ("two heads of one replica in a base", anna.commit(
            operation(TASK, {}, base=[(bea.replica, 2, b"\x01" * 32), (bea.replica, 2, b"\x02" * 32)]))),
        ("as many bytes as a commit may have", anna.commit(operation(TASK, {"title": "x" * room}))),
        ("nearly as many items as a commit may have", anna.commit(operation(TASK, {"n": [None] * items}))),
        ("a stamp of zero", anna.commit(bare, ms=0)),
        ("a replica of another time than its first commit", early),
    ]  # fmt: skip


def _long() -> list[tuple[str, list[Any]]]:
    """Return commits with values of just more than 128 bytes, and of just not."""
    anna = CommitWriter("anna")
    short = {"a": "x" * 126, "b": b"x" * 126, "c": ["x" * 125], "d": {"k": "x" * 124}, "é": "é" * 63}
    return [
        ("values of 128 bytes, which are not long", anna.commit(operation(TASK, short))),
        ("a long text", anna.commit(operation(TASK, {"text": "x" * 127, "title": "x"}))),
        ("a long text of few characters", anna.commit(operation(TASK, {"text": "é" * 63 + "x"}))),
        ("a text of wide characters, just not long", anna.commit(operation(TASK, {"text": "😀" * 31}))),
        ("a text of wide characters, just long", anna.commit(operation(TASK, {"text": "😀" * 32}))),
        ("long bytes", anna.commit(operation(TASK, {"raw": b"x" * 127}))),
        ("a long array and a long map", anna.commit(
            operation(TASK, {"array": ["x" * 126], "map": {"k": "x" * 125}, "title": "x"}))),
        ("a long array of short members", anna.commit(operation(TASK, {"array": list(range(127))}))),
        ("a text that holds the bytes of another", anna.commit(
            operation(TASK, {"a": pack("y" * 127), "b": "y" * 127, "c": "y" * 127}))),
        ("long values in several operations", anna.commit(
            operation(TASK, {"text": "x" * 300}), operation(name_id("a note"), {"text": "y" * 70_000}))),
        ("a long origin, which always stays", anna.commit(
            operation(TASK, {"text": "x"}, origin={"raw": "x" * 300}))),
    ]  # fmt: skip


def _dropped() -> Iterator[tuple[str, bytes, bytes]]:
    """Yield commits without long values: name, bytes, and the bytes that they had with all of them."""
    for name, commit in _long():
        body = pack(commit)
        if wire.redacted(body) != body:
            yield f"{name}: dropped", wire.redacted(body), body
    raw = pack(CommitWriter("anna").commit(operation(TASK, {"a": "x" * 200, "b": "y" * 200, "c": 1})))
    yield "one of two long values dropped", wire.redacted(raw, "b"), raw
    never = pack(CommitWriter("anna").commit(operation(TASK, {"a": wire.dropped("short")})))
    yield "a dropped value of which nobody ever saw more", never, never


def _bare_replica(first: list[Any]) -> bytes:
    """Return a replica's id with the digest's own bits where version and variant belong."""
    return bytes(first[1][:6] + hashlib.sha256(b"placet replica 1\x00" + first[6] + first[3]).digest()[:10])


def _beyond() -> Labelled:
    """Yield commits that are spelled rightly and break a rule."""
    good = CommitWriter("anna").commit(operation(TASK, {"title": "x"}))
    changed: list[tuple[str, str, int, Any]] = [
        ("format 1, whose heads were shorter", "out-of-range", 0, 1),
        ("format 3", "out-of-range", 0, 3),
        ("a replica of 15 bytes", "out-of-range", 1, bytes(15)),
        ("counter 0", "out-of-range", 2, 0),
        ("counter -1", "out-of-range", 2, -1),
        ("counter 2^63", "out-of-range", 2, 2**63),
        ("counter true", "malformed", 2, True),
        ("counter as a float", "malformed", 2, 1.0),
        ("counter as text", "malformed", 2, "1"),
        ("a replica as text", "malformed", 1, "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("a first commit without nonce", "out-of-range", 3, b""),
        ("a nonce of 31 bytes", "out-of-range", 3, bytes(31)),
        ("another nonce", "foreign-replica", 3, bytes(32)),
        ("another device's key", "foreign-replica", 6, wire.device("bea").public_key),
        ("another device's replica", "foreign-replica", 1, CommitWriter("bea").replica),
        ("a replica without version and variant", "foreign-replica", 1, _bare_replica(good)),
        ("a first commit without its key", "out-of-range", 6, None),
        ("a key of 31 bytes", "out-of-range", 6, bytes(31)),
        ("a stamp before 1970", "out-of-range", 4, [-1, 0]),
        ("a stamp beyond 48 bits", "out-of-range", 4, [2**48, 0]),
        ("a stamp's count beyond 32 bits", "out-of-range", 4, [0, 2**32]),
        ("a stamp of three", "malformed", 4, [0, 0, 0]),
        ("a stamp of true", "malformed", 4, [True, 0]),
        ("an unknown kind of author", "malformed", 5, [3, None]),
        ("an author true", "malformed", 5, [True, None]),
        ("an author without agent", "malformed", 5, [2]),
        ("an agent of 17 bytes", "out-of-range", 5, [1, bytes(17)]),
        ("no operation", "out-of-range", 7, []),
        ("operations as a map", "malformed", 7, {}),
        ("two operations on one entity", "out-of-range", 7, [operation(TASK, {}), operation(TASK, {"a": 1})]),
    ]  # fmt: skip
    for name, outcome, index, member in changed:
        yield name, outcome, put(good, index, pack(member))
    yield "a part too few", "malformed", array(*map(pack, good[:-1]))
    yield "a part too many", "malformed", array(*map(pack, [*good, None]))
    yield "a map", "malformed", pack({"format": 1})
    second = [*good[:2], 2, bytes(32), *good[4:6], None, good[7]]
    yield "a second commit with a key", "out-of-range", put(second, 6, pack(bytes(32)))
    yield "a second commit that follows none", "out-of-range", put(second, 3, pack(b""))


def _operations() -> Labelled:
    """Yield commits with an operation that breaks a rule."""
    good = CommitWriter("anna").commit(operation(TASK, {"title": "x"}))
    head = [name_id("r"), 1, b"\x01" * 32]
    element = good[7][0]
    changed: list[tuple[str, str, int, Any]] = [
        ("an entity of 15 bytes", "out-of-range", 0, bytes(15)),
        ("an empty kind", "out-of-range", 1, ""),
        ("a kind of 129 characters", "out-of-range", 1, "k" * 129),
        ("a head with counter 0", "out-of-range", 2, [[head[0], 0, head[2]]]),
        ("a head with counter true", "malformed", 2, [[head[0], True, head[2]]]),
        ("a head with a hash of 31 bytes", "out-of-range", 2, [[head[0], 1, bytes(31)]]),
        ("a head with a hash of 8 bytes, as in format 1", "out-of-range", 2, [[head[0], 1, bytes(8)]]),
        ("a head with a replica of 15 bytes", "out-of-range", 2, [[bytes(15), 1, head[2]]]),
        ("a head twice", "out-of-range", 2, [head, head]),
        ("heads out of order", "out-of-range", 2, [[head[0], 2, head[2]], head]),
        ("a head of two parts", "malformed", 2, [head[:2]]),
        ("an empty field name", "out-of-range", 3, {"": 1}),
        ("a field name of 129 characters", "out-of-range", 3, {"n" * 129: 1}),
        ("a field of 2^63", "out-of-range", 3, {"n": 2**63}),
        ("a field seventeen containers deep", "out-of-range", 3, {"n": _nested(17)}),
        ("an effect of 15 bytes", "out-of-range", 4, bytes(15)),
        ("an effect as text", "malformed", 4, "x" * 16),
        ("an unknown kind of writer", "malformed", 5, -1),
        ("an origin that is a list", "malformed", 6, []),
        ("an origin with 2^63 in it", "out-of-range", 6, {"n": [2**63]}),
    ]
    for name, outcome, index, member in changed:
        yield name, outcome, put(good, 7, array(put(element, index, pack(member))))
    for name, digits, outcome in (
        ("a field that is not a number", "81a16e" + NAN.hex(), "out-of-range"),
        ("a field with an integer as key", "81a16e810101", "malformed"),
        ("fields out of order", "82a162c0a161c0", "not-canonical"),
        ("a field twice", "82a161c0a161c0", "not-canonical"),
        ("a field of an extension type", "81a16ed40100", "malformed"),
        ("a field of extension type 2", "81a16ec72002" + "00" * 32, "malformed"),
        ("a field of extension type 0", "81a16ec72000" + "00" * 32, "malformed"),
        ("a dropped field with a digest of 31 bytes", "81a16ec71f01" + "00" * 31, "malformed"),
        ("a dropped field with a digest of 33 bytes", "81a16ec72101" + "00" * 33, "malformed"),
        ("a dropped field with a digest of 16 bytes", "81a16ed801" + "00" * 16, "malformed"),
        ("a dropped field without digest", "81a16ec70001", "malformed"),
        ("a dropped field with a wide length", "81a16ec8002001" + "00" * 32, "not-canonical"),
        ("a dropped field with a wider length", "81a16ec90000002001" + "00" * 32, "not-canonical"),
        ("a dropped value in an array", "81a16e91c72001" + "00" * 32, "malformed"),
        ("a dropped value in a map", "81a16e81a16ec72001" + "00" * 32, "malformed"),
        ("a dropped value as the name of a field", "81c72001" + "00" * 32 + "01", "malformed"),
        ("a dropped value in place of the fields", "c72001" + "00" * 32, "malformed"),
    ):
        yield name, outcome, put(good, 7, array(put(element, 3, bytes.fromhex(digits))))

    for name, index in (("entity", 0), ("kind", 1), ("base", 2), ("effect", 4), ("writer", 5), ("origin", 6)):
        yield (
            f"a dropped {name}",
            "malformed",
            put(good, 7, array(put(element, index, pack(wire.dropped("x"))))),
        )
    for kind in ("ask", "change_set", "decision", "device", "passkey"):
        by_name = [*element[:1], kind, *element[2:]]
        of_kind = put(by_name, 3, pack({"n": wire.dropped("x")}))
        yield f"a dropped value in a {kind}", "malformed", put(good, 7, array(of_kind))
    yield (
        "a dropped value in an origin",
        "malformed",
        put(good, 7, array(put(element, 6, pack({"n": wire.dropped("x")})))),
    )
    for name, index in (("replica", 1), ("counter", 2), ("hash", 3), ("author", 5), ("key", 6), ("list", 7)):
        yield f"a dropped {name}", "malformed", put(good, index, pack(wire.dropped("x")))


def _nested(depth: int) -> Any:
    value: Any = None
    for _ in range(depth):
        value = [value]
    return value


def _spellings() -> Labelled:
    """Yield commits that are spelled wrongly, or are too large."""
    anna = CommitWriter("anna")
    good = anna.commit(operation(TASK, {"title": "x"}))
    raw = pack(good)
    yield "a wide counter", "not-canonical", put(good, 2, b"\xcc\x01")
    yield "a wide array", "not-canonical", b"\xdc\x00\x08" + raw[1:]
    yield "a byte behind the end", "malformed", raw + b"\xc0"
    yield "the last byte missing", "malformed", raw[:-1]
    yield "nothing", "malformed", b""
    text = "x" * (wire.COMMIT_BYTES_MAX + 1 - len(raw) - 3)
    large = pack(anna.commit(operation(TASK, {"title": text})))
    assert len(large) == wire.COMMIT_BYTES_MAX + 1
    yield "a byte more than a commit may have", "too-large", large
    yield (
        "too many items",
        "too-large",
        pack(anna.commit(operation(TASK, {"n": [None] * wire.COMMIT_ITEMS_MAX}))),
    )
    yield "too many empty arrays", "too-large", pack(anna.commit(operation(TASK, {"n": [[]] * 200_000})))


def commits() -> list[Case]:
    """Return commits with hash, head and signature, and bytes that are none."""
    cases = [_read(name, pack(commit)) for name, commit in (*_good(), *_long())]
    for name, body, raw in _dropped():
        assert wire.hash_of(body) == wire.hash_of(raw)
        cases.append(_read(name, body) | {"whole": portable.raw(raw)})
    cases += _badly_signed(cases[0])
    for name, outcome, body in (*_beyond(), *_operations(), *_spellings()):
        assert outcome_of(wire.read_commit, body) == outcome, (name, outcome_of(wire.read_commit, body))
        cases.append({"name": name, "body": portable.raw(body), "outcome": outcome})
    return cases


def _read(name: str, body: bytes) -> Case:
    """Return a commit with what there is to know of it."""
    assert outcome_of(wire.read_commit, body) == "ok", name
    owner, commit = wire.device("anna"), wire.read_commit(body)
    return {
        "name": name,
        "commit": portable.value(commit) if len(body) < portable.PLAIN_BYTES_MAX else None,
        "body": portable.raw(body),
        "hash": wire.hash_of(body).hex(),
        "head": portable.value(wire.head(commit, body)),
        "public_key": owner.public_key.hex(),
        "signature": wire.signature(owner, body).hex(),
        "outcome": "ok",
    }


def _badly_signed(good: Case) -> Iterator[Case]:
    """Yield a commit with signatures that do not hold."""
    body = portable.from_raw(good["body"])
    anna, bea = wire.device("anna"), wire.device("bea")
    right = wire.signature(anna, body)
    order = 2**252 + 27742317777372353535851937790883648493
    stretched = (int.from_bytes(right[32:], "little") + order).to_bytes(32, "little")
    for name, signature in (
        ("another device's signature", wire.signature(bea, body)),
        ("a signature without its prefix", anna.key.sign(hashlib.sha256(body).digest())),
        ("a signature over the bytes in place of their hash", anna.key.sign(b"placet commit 1\x00" + body)),
        ("a signature of zeros", bytes(64)),
        ("a signature with a bit changed", right[:-1] + bytes([right[-1] ^ 1])),
        ("a signature whose scalar is beyond the group's order", right[:32] + stretched),
    ):
        fields = {key: good[key] for key in ("body", "hash", "head", "public_key")}
        yield {"name": name, **fields, "signature": signature.hex(), "outcome": "bad-signature"}


# -- frames -------------------------------------------------------------------------------------------

VAULT, REPLICA, STATE = name_id("a vault"), name_id("a replica"), bytes(range(32))
VECTOR = [[REPLICA, 3, b"\x03" * 32], [name_id("b replica"), 2**63 - 1, b"\xff" * 32]]
HELLO: list[Any] = [1, [2], VAULT, REPLICA, sorted(VECTOR), STATE, {}]


def _frames() -> Labelled:
    """Yield frames, good and bad."""
    written_commit = CommitWriter("anna").write(operation(TASK, {"title": "x"}))
    good: list[tuple[str, list[Any]]] = [
        ("hello", HELLO),
        ("hello before the first write", [1, [2, 3], VAULT, None, [], bytes(32), {}]),
        ("hello with more to say", [1, [2], VAULT, None, [], bytes(32), {"later": [1, {"a": None}]}]),
        ("commits", [2, [list(written_commit.signed)]]),
        ("commits, one without signature", [2, [[written_commit.body, b""], [b"anything", bytes(64)]]]),
        ("commits that are none: the session refuses them", [2, []]),
        ("ack", [3, sorted(VECTOR), [], STATE]),
        ("ack of a store to which nothing came", [3, [], [], bytes(32)]),
        (
            "ack of heads that took the place of another",
            [3, sorted(VECTOR), [[REPLICA, 2, bytes(32)]], STATE],
        ),
        ("heads", [7, sorted(VECTOR), [[REPLICA, 2, bytes(32)]]]),
        ("heads without any", [7, [], []]),
        ("ping", [4, 0]),
        ("ping with the least nonce", [4, -(2**63)]),
        ("pong", [5, 2**63 - 1]),
        ("bye", [6, "going to sleep"]),
        ("bye without a word", [6, ""]),
    ]
    for name, frame in good:
        yield name, "ok", pack(frame)
    yield from _bad_frames()


def _bad_frames() -> Labelled:
    changed: list[tuple[str, str, list[Any], int, Any]] = [
        ("a vault of 15 bytes", "out-of-range", HELLO, 2, bytes(15)),
        ("a vault as text", "malformed", HELLO, 2, "AAAAAAAAAAAAAAAAAAAAAA=="),
        ("a replica of 17 bytes", "out-of-range", HELLO, 3, bytes(17)),
        ("a vector out of order", "out-of-range", HELLO, 4, sorted(VECTOR, reverse=True)),
        ("a vector with counter 0", "out-of-range", HELLO, 4, [[REPLICA, 0, bytes(32)]]),
        ("a vector with counter 2^63", "out-of-range", HELLO, 4, [[REPLICA, 2**63, bytes(32)]]),
        ("a vector with counter true", "malformed", HELLO, 4, [[REPLICA, True, bytes(32)]]),
        ("a state hash of 31 bytes", "out-of-range", HELLO, 5, bytes(31)),
        ("more that is no map", "malformed", HELLO, 6, []),
        ("more with 2^63 in it", "out-of-range", HELLO, 6, {"n": 2**63}),
        ("more with a dropped value in it", "malformed", HELLO, 6, {"n": wire.dropped("x")}),
        ("a dropped state hash", "malformed", HELLO, 5, wire.dropped("x")),
        ("a dropped ping", "malformed", [4, 0], 1, wire.dropped("x")),
        ("a dropped commit", "malformed", [2, []], 1, [[wire.dropped("x"), b""]]),
        ("a version true", "malformed", HELLO, 1, [True]),
        ("a version of 2^63", "out-of-range", HELLO, 1, [2**63]),
        ("an ack with a state hash of 33 bytes", "out-of-range", [3, [], [], STATE], 3, bytes(33)),
        ("an ack with a vector twice", "out-of-range", [3, [], [], STATE], 1, [VECTOR[0], VECTOR[0]]),
        ("an ack as in version 1", "malformed", [3, [], STATE], 0, 3),
        ("an ack with a head gone twice", "out-of-range", [3, [], [], STATE], 2, [VECTOR[0], VECTOR[0]]),
        ("heads gone with counter 0", "out-of-range", [7, [], []], 2, [[REPLICA, 0, bytes(32)]]),
        ("heads as nil", "malformed", [7, [], []], 1, None),
        ("commits of one part", "malformed", [2, []], 1, [[b"body"]]),
        ("commits as text", "malformed", [2, []], 1, [["body", b""]]),
        ("a ping of true", "malformed", [4, 0], 1, True),
        ("a ping of 0.0", "malformed", [4, 0], 1, 0.0),
        ("a ping of 2^63", "out-of-range", [4, 0], 1, 2**63),
        ("a bye of bytes", "malformed", [6, ""], 1, b""),
        ("an unknown kind of frame", "malformed", [6, ""], 0, 8),
        ("kind 0", "malformed", [6, ""], 0, 0),
        ("a kind of true", "malformed", [1, ""], 0, True),
        ("a kind of text", "malformed", [6, ""], 0, "6"),
    ]
    for name, outcome, frame, index, member in changed:
        yield name, outcome, put(frame, index, pack(member))
    yield "a ping with more to say", "malformed", pack([4, 0, 0])
    yield "a ping with nothing to say", "malformed", pack([4])
    yield "an empty array", "malformed", b"\x90"
    yield "nothing", "malformed", b""
    yield "a wide kind", "not-canonical", b"\x92\xcc\x04\x00"
    yield "a byte behind the end", "malformed", pack([4, 0]) + b"\x00"
    yield "a byte more than a frame may have", "too-large", pack([6, "x" * (wire.FRAME_BYTES_MAX - 6)])
    yield "too many items", "too-large", put(HELLO, 6, pack({"n": [None] * wire.FRAME_ITEMS_MAX}))
    yield "a million empty arrays", "too-large", put(HELLO, 6, pack({"n": [[]] * 1_000_000}))


def frames() -> list[Case]:
    """Return frames with what they say, and bytes that are none."""
    cases = []
    for name, outcome, raw in _frames():
        assert outcome_of(wire.read_frame, raw) == outcome, (name, outcome_of(wire.read_frame, raw))
        case = {"name": name, "bytes": portable.raw(raw), "outcome": outcome}
        if outcome == "ok":
            case["frame"] = portable.value(wire.read_frame(raw))
        cases.append(case)
    return cases
