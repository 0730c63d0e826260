"""The greatest flow through a network of pipes (Dinic's algorithm)."""

from __future__ import annotations

from collections import deque


class MaxFlow:
    """Nodes 0..n-1 and directed pipes of given width. Capacities are real numbers."""

    def __init__(self, nodes: int, tiny: float = 1e-13) -> None:
        self._out: list[list[int]] = [[] for _ in range(nodes)]  #: node -> pipes; pipe p runs back as p ^ 1
        self._to: list[int] = []
        self._width: list[float] = []
        self._tiny = tiny  #: below this a pipe counts as closed, which bounds the number of rounds

    def add(self, start: int, end: int, width: float) -> None:
        """A pipe from start to end."""
        for node, other, room in ((start, end, width), (end, start, 0.0)):
            self._out[node].append(len(self._to))
            self._to.append(other)
            self._width.append(room)

    def greatest(self, source: int, sink: int) -> float:
        """The greatest flow from source to sink, which must differ; the network is left as it was."""
        room, total = self._width.copy(), 0.0
        while (levels := self._levels(room, source, sink))[sink] >= 0:
            nexts = [0] * len(self._out)
            while (pushed := self._push(room, levels, nexts, source, sink)) > 0:
                total += pushed
        return total

    def _levels(self, room: list[float], source: int, sink: int) -> list[int]:
        """Distance of every node from source through open pipes; -1 where none leads (or further than sink)."""
        levels = [-1] * len(self._out)
        levels[source] = 0
        waiting = deque([source])
        while waiting and levels[sink] < 0:
            node = waiting.popleft()
            for pipe in self._out[node]:
                end = self._to[pipe]
                if levels[end] < 0 and room[pipe] > self._tiny:
                    levels[end] = levels[node] + 1
                    waiting.append(end)
        return levels

    def _push(self, room: list[float], levels: list[int], nexts: list[int], source: int, sink: int) -> float:
        """Send what one path from source to sink can take; 0.0 when no path is left. `nexts` skips dead ends."""
        path: list[int] = []
        node = source
        while node != sink:
            out = self._out[node]
            while nexts[node] < len(out):
                pipe = out[nexts[node]]
                if room[pipe] > self._tiny and levels[self._to[pipe]] == levels[node] + 1:
                    break
                nexts[node] += 1
            else:
                if not path:
                    return 0.0
                node = self._to[path.pop() ^ 1]
                nexts[node] += 1
                continue
            path.append(pipe)
            node = self._to[pipe]
        pushed = min(room[pipe] for pipe in path)
        for pipe in path:
            room[pipe] -= pushed
            room[pipe ^ 1] += pushed
        return pushed
