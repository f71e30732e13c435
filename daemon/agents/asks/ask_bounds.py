"""The bounds of what an agent asks, and of what a person makes of it: a yes must fit into the log as well.

Never cuts anything short: what is too long is refused.
"""

from typing import Any, Final

from daemon.agents.asks.ask_record import hash_of_args
from daemon.refusal import usage_error
from store.sentence import sentence
from syncproto import codec
from syncproto.ids import ReplicaId

ARGS_BYTES_MAX: Final = 16 * 1024
DEPTH_MAX: Final = 12
_NO_REPLICA: Final = ReplicaId(bytes(16))


def require_length(field: str, length: int, most: int) -> None:
    """Raise Refused if a part of an ask is longer than it may be."""
    if length > most:
        raise usage_error(
            sentence("ask-part-too-long", "{field} of an ask: {most} at most", field=field, most=most)
        )


def require_keepable(name: str, args: dict[str, Any]) -> None:
    """Raise Refused if the arguments of an action are too long, too deep, or cannot be written or hashed."""
    require_length("nested args", _depth(args), DEPTH_MAX)
    try:
        hash_of_args(name, args, _NO_REPLICA)
        length = len(codec.encode(args))
    except (ValueError, TypeError, RecursionError, OverflowError) as fault:
        unreadable = sentence(
            "ask-args-unreadable", "its arguments cannot be kept: {fault}", fault=str(fault)[:200]
        )
        raise usage_error(unreadable) from fault
    require_length("args", length, ARGS_BYTES_MAX)


def _depth(value: Any) -> int:
    """Return how many containers are inside one another, one more than allowed if there are still more."""
    level, depth = [value], 0
    while level and depth <= DEPTH_MAX:
        containers = [member for member in level if isinstance(member, dict | list)]
        level = [
            member
            for container in containers
            for member in (container.values() if isinstance(container, dict) else container)
        ]
        depth += bool(containers)
    return depth
