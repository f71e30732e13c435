"""Law 2: what was acknowledged is there after a kill, and the store is whole, whenever the kill comes.

Never counts on the process that writes to end in good order.
"""

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from syncproto.ids import id_from_text
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT
from tests.support.stores import StoreBench, assert_store_is_whole, exchange, log_and_state, write_entities

# Writes without end; each line names what is durable by then. Every third transaction makes several commits,
# every fifth decides, so that rows are folded again; a large one makes the log grow past a checkpoint.
WRITER = """
import itertools, sys
from pathlib import Path
from store.transaction import EntityWrite
from syncproto.commit import AuthorKind
from syncproto.ids import id_to_text
from tests.support.stores import StoreBench, entity_id

bench = StoreBench(Path(sys.argv[1]))
bench._drawn = int(sys.argv[2])
store = bench.store("a")
print("open", flush=True)
for number in itertools.count():
    with store.write() as tx:
        made = [tx.new_id() for _ in range(1 + number % 3)]
        for one in made:
            entry = EntityWrite(one, "entry", {"text": "x" * (number % 7) * 900})
            tx.commit([entry, EntityWrite(entity_id(1), "task", {})])
        if number % 5 == 0:
            item = tx.new_id()
            proposed = {"text": "proposed"}
            tx.commit([EntityWrite(made[0], "entry", proposed, effect=item, by=AuthorKind.AGENT)])
            verdict = {"item_id": item, "verdict": "confirmed", "seen": []}
            tx.commit([EntityWrite(tx.new_id(), "decision", verdict)])
    print(tx.counts().commits, *map(id_to_text, made), flush=True)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(bench: StoreBench, tmp_path: Path) -> None:
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
            count, *parts = writer.stdout.readline().split()
            acknowledged.update(parts)
            commits = int(count)
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().splitlines()
        writer.stdout.close()
        assert writer.wait(LIMIT_S) == -signal.SIGKILL
        for line in (text for text in rest if text):
            acknowledged.update(line.split()[1:])
        store = bench.store("a")
        with store.read() as snapshot:
            assert snapshot.counts().commits >= commits
            lost = [name for name in acknowledged if snapshot.entity(id_from_text(name)) is None]
            assert_store_is_whole(snapshot)
        assert lost == []
        store.close()
    assert len(acknowledged) > 100
    store, peer = bench.store("a"), bench.store("b")
    write_entities(store, 1)
    exchange(store, peer, 64 * 1024)
    assert log_and_state(store)[:3] == log_and_state(peer)[:3]
