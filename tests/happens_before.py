"""The happens-before graph of one run of a CUDA program: the meaning of the rules, against which analyses are tested.

Nodes are steps on streams, sets of nodes are bits of an int and always closed: with a node they hold all that finished
before it. The host's own progress is the set of what it has waited for.
"""

from __future__ import annotations

LEGACY, BLOCKING, NON_BLOCKING = "legacy", "blocking", "non-blocking"


class Graph:
    """Streams by name; `0` is the legacy default stream. A stream that is destroyed still finishes its work."""

    def __init__(self) -> None:
        self.kinds = {"0": LEGACY}
        self.last: dict[str, int] = {}  # the closed set of each stream's last step
        self.nodes = 0
        self.host = 0

    def create(self, stream: str, kind: str) -> None:
        self.kinds[stream] = kind

    def finished_before(self, stream: str) -> int:
        """What has finished when the next step of `stream` starts."""
        done = self.host | self.last.get(stream, 0)
        kind = self.kinds[stream]
        if kind == LEGACY:
            for other, last in self.last.items():
                if self.kinds[other] == BLOCKING:
                    done |= last
        elif kind == BLOCKING:
            done |= self.last.get("0", 0)
        return done

    def enqueue(self, stream: str, after: int = 0) -> int:
        """A step on `stream` that also waits for `after`. Returns its closed set; its own bit is the highest."""
        done = self.finished_before(stream) | after | 1 << self.nodes
        self.nodes += 1
        self.last[stream] = done
        return done

    def synchronize(self, stream: str) -> None:
        """The host waits for the last step of a stream; what only its next step would wait for may go on. The legacy
        stream has waited for all blocking ones.
        """
        self.host_waits(self.enqueue(stream) if self.kinds[stream] == LEGACY else self.last.get(stream, 0))

    def host_waits(self, done: int) -> None:
        self.host |= done

    def everything(self) -> int:
        return (1 << self.nodes) - 1
