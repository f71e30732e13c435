"""What a box of a relay keeps: blobs by vault and name, within a quota.

Never looks into a blob, and never trusts a name: only those that a mailbox has can be used.
"""

import asyncio
import re
from pathlib import Path

from daemon.peers.mailboxes.carrier import LISTED_MAX, ListedBlob
from daemon.peers.mailboxes.folder import FolderCarrier, tidy_vaults
from daemon.relay.boxes import Box

VAULTS_MAX = 8
"""How many vaults and invitations may share a box at once. The folder of each goes with its last blob."""
PAGE_BLOBS_MAX = 2000
HAVE_ROOM_BYTES = 1 << 20

_VAULT = re.compile(r"[0-9a-f]{32}")
_NAME = re.compile(r"(?:[0-9a-f]{1,64}/)?[0-9A-Za-z][0-9A-Za-z.-]{0,200}\.(?:drop|have)")


class QuotaExceeded(Exception):
    """The box has no room for this."""


def is_vault_tag(text: str) -> bool:
    """Return whether a vault can be called so in a mailbox."""
    return _VAULT.fullmatch(text) is not None


def is_name(text: str) -> bool:
    """Return whether a blob can be called so."""
    return _NAME.fullmatch(text) is not None


class BlobKeeper:
    """The blobs of one box, in a folder. All methods raise CarrierFault if the disk refuses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[str, dict[str, int]] | None = None
        # One change at a time: what a box keeps is counted before the next blob is let in.
        self._changing = asyncio.Lock()

    async def put(self, box: Box, vault: str, name: str, content: bytes) -> None:
        """Keep a blob, in place of an earlier one. Raises QuotaExceeded."""
        async with self._changing:
            sizes = await self._read_sizes()
            if vault not in sizes and len(sizes) >= VAULTS_MAX:
                raise QuotaExceeded
            in_vault = sizes.get(vault, {})
            used = sum(sum(kept.values()) for kept in sizes.values()) - in_vault.get(name, 0)
            is_one_more = name not in in_vault
            # What a device has is said in little, and lets others clear up: a full box has room for it.
            room = box.quota + (HAVE_ROOM_BYTES if name.endswith(".have") else 0)
            if used + len(content) > room or (is_one_more and len(in_vault) >= LISTED_MAX):
                raise QuotaExceeded
            await self._carrier(vault).put(name, content)
            sizes.setdefault(vault, {})[name] = len(content)

    async def list_page(self, vault: str, after: str) -> tuple[list[ListedBlob], bool]:
        """Return the blobs of a vault by name, those after a name, and whether more follow."""
        if vault not in await self._read_sizes():
            return [], False
        blobs = await self._carrier(vault).list_blobs()
        chosen = sorted(blob for blob in blobs if blob.name > after and is_name(blob.name))
        return chosen[:PAGE_BLOBS_MAX], len(chosen) > PAGE_BLOBS_MAX

    async def get(self, vault: str, name: str, bytes_max: int) -> bytes | None:
        """Return a blob, None if there is none."""
        return await self._carrier(vault).get(name, bytes_max)

    async def delete(self, vault: str, name: str) -> None:
        """Delete a blob, if it is there."""
        async with self._changing:
            sizes = await self._read_sizes()
            await self._carrier(vault).delete(name)
            kept = sizes.get(vault, {})
            kept.pop(name, None)
            if not kept:
                sizes.pop(vault, None)

    def _carrier(self, vault: str) -> FolderCarrier:
        return FolderCarrier(self._folder, bytes.fromhex(vault), clears_leftovers=False)

    async def _read_sizes(self) -> dict[str, dict[str, int]]:
        if self._sizes is None:
            vaults = await asyncio.to_thread(self._make_folder)
            sizes = {vault: await self._carrier(vault).list_blobs() for vault in vaults}
            by_vault = {vault: {blob.name: blob.size for blob in blobs} for vault, blobs in sizes.items()}
            self._sizes = {vault: kept for vault, kept in by_vault.items() if kept}
        return self._sizes

    def _make_folder(self) -> list[str]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return tidy_vaults(self._folder, is_vault_tag)
