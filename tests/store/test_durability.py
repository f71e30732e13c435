"""Law 2: what was acknowledged is there after a kill, and the store is whole, whenever the kill comes.

Never counts on the process that writes to end in good order.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from store.fold import dump
from store.folding import HASH_MODULUS, Folding, entity_hash
from store.log import Log
from store.snapshot import Snapshot
from syncproto.ids import from_text
from tests.store.stores import Bench, exchange, grow, stands

ROOT = Path(__file__).parents[2]

# Writes without end; each line names what is durable by then. Every third transaction makes several commits,
# every fifth decides, so that rows are folded again; a large one makes the log grow past a checkpoint.
WRITER = """
import itertools, sys
from pathlib import Path
from store.transaction import Write
from syncproto.commit import By
from syncproto.ids import text
from tests.store.stores import Bench, entity_id

bench = Bench(Path(sys.argv[1]))
bench._drawn = int(sys.argv[2])
store = bench.store("a")
print("open", flush=True)
for number in itertools.count():
    with store.write() as tx:
        made = [tx.new_id() for _ in range(1 + number % 3)]
        for one in made:
            entry = Write(one, "entry", {"text": "x" * (number % 7) * 900})
            tx.commit([entry, Write(entity_id(1), "task", {})])
        if number % 5 == 0:
            item = tx.new_id()
            tx.commit([Write(made[0], "entry", {"text": "proposed"}, effect=item, by=By.AGENT)])
            verdict = {"item_id": item, "verdict": "confirmed", "seen": []}
            tx.commit([Write(tx.new_id(), "decision", verdict)])
    print(tx.counts().commits, *map(text, made), flush=True)
"""


def whole(snapshot: Snapshot) -> None:
    """Check that sums, rows and branches are what the log says."""
    folding, total = Folding(snapshot.db, snapshot.log), 0
    entities = [entity for (entity,) in snapshot.db.execute("SELECT id FROM entity")]
    for entity in entities:
        found = snapshot.entity(entity)
        assert found is not None
        assert dump(folding.refolded(entity)) == dump(found.row)
        total += entity_hash(entity, dump(found.row))
    assert total % HASH_MODULUS == int.from_bytes(snapshot.state_hash(), "big")
    assert snapshot.counts() == (len(entities), snapshot.feed_end())
    assert sum(head.counter for head in Log(snapshot.db).vector()) == snapshot.feed_end()


@pytest.mark.timeout(120)
def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(bench: Bench, tmp_path: Path) -> None:
    dice, acknowledged, commits = random.Random(5), set(), 0
    for life in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(life * 1_000_000)],
            cwd=ROOT,
            env={"PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        for _ in range(dice.randrange(1, 60)):
            count, *made = writer.stdout.readline().split()
            acknowledged.update(made)
            commits = int(count)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().splitlines()
        writer.stdout.close()
        assert writer.wait(30) == -signal.SIGKILL
        for line in (one for one in rest if one):
            acknowledged.update(line.split()[1:])
        store = bench.store("a")
        with store.read() as snapshot:
            assert snapshot.counts().commits >= commits
            lost = [name for name in acknowledged if snapshot.entity(from_text(name)) is None]
            whole(snapshot)
        assert lost == []
        store.close()
    assert len(acknowledged) > 100
    store, peer = bench.store("a"), bench.store("b")
    grow(store, 1)
    exchange(store, peer, 64 * 1024)
    assert stands(store)[:3] == stands(peer)[:3]
