"""Whoever listens to mDNS on a host: prints as JSON every address that devices nearby announce.

Stands on its own: `python listening.py ADDRESS...` runs in a namespace until all of these were heard, or for
LIMIT_S. Never announces anything.
"""

import json
import sys
import time
from queue import Empty, Queue

from zeroconf import IPVersion, ServiceBrowser, ServiceInfo, ServiceStateChange, Zeroconf

SERVICE = "_placet._tcp.local."
LIMIT_S = 60.0
ASKED_MS = 3000


def main() -> None:
    """Listen; tell what was heard."""
    queue: Queue[str] = Queue()
    names: set[str] = set()

    def on(zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange) -> None:
        del zeroconf, service_type, state_change
        queue.put(name)

    ends_s = time.monotonic() + LIMIT_S
    with Zeroconf(ip_version=IPVersion.All) as mdns:
        ServiceBrowser(mdns, SERVICE, handlers=[on])
        while not names.issuperset(sys.argv[1:]) and (left_s := ends_s - time.monotonic()) > 0:
            try:
                info = ServiceInfo(SERVICE, queue.get(timeout=left_s))
            except Empty:
                break
            if info.request(mdns, ASKED_MS):
                names.update(info.parsed_addresses())
    print(json.dumps(sorted(names)))


if __name__ == "__main__":
    main()
