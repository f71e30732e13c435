"""Backups that are written and restored.

Never checks anything.
"""

from pathlib import Path

from store.store import Store
from store.upkeep import backup
from store.upkeep.backup import KeptFiles
from tests.support.stores import (
    StoreBench,
    signer_of,
    write_entities,
)

DEVICE = signer_of("a").device


def silent(stage: str, count: int, total: int) -> None:
    """Ignore progress."""


def written_backup(bench: StoreBench, commits: int = 3, **by_name: bytes) -> tuple[Store, Path]:
    """Return a store with a few commits, still open, and a backup of it."""
    store, target = bench.store("a"), bench.folder / "a.backup"
    write_entities(store, commits)
    backup.write_backup(store.path, target, silent, by_name.get("sealed_key"))
    return store, target


def restored(bench: StoreBench, target: Path, path: Path, stamp: str = "now") -> Path | None:
    """Restore a backup; return the path at which the database that it replaced is kept."""
    return restore(target, path, stamp).database


def restore(target: Path, path: Path, stamp: str = "now") -> KeptFiles:
    working = backup.working_copy_path(path)
    backup.prepare_copy(target, working, silent, folds_anew=True)
    kept_files = backup.install_copy(working, path, DEVICE, stamp)
    backup.discard_unfinished(working)
    return kept_files
