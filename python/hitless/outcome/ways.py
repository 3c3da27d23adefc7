"""Shortest paths by number of links: fast enough for thousands of searches in thousands of switches."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_Numbers: TypeAlias = NDArray[np.int64]
Parts: TypeAlias = tuple[float, float, float, float]
"""A path or a link: delay in seconds, seconds per bit summed and at most, and overhead in bytes at most."""
WHOLE_ROWS = 5
"""Rows of `Ways.totals_from`: `Parts`, and the number of links."""


class Ways:
    """The nodes of a graph and its directed edges, each with its `Parts`."""

    def __init__(self, next_to: Mapping[str, Mapping[str, Parts]]) -> None:
        """``next_to`` has the neighbours of every node. Among paths of equal length, earlier neighbours win."""
        self.number = {name: number for number, name in enumerate(next_to)}
        """Index of each node."""
        degrees = [len(others) for others in next_to.values()]
        self._first_edge = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(np.int64)
        self._from = np.repeat(np.arange(len(degrees)), degrees)
        self._to = np.array([self.number[other] for others in next_to.values() for other in others], dtype=np.int64)
        parts = [edge for others in next_to.values() for edge in others.values()]
        self._parts = np.array(parts, dtype=np.float64).reshape(-1, 4).T

    def totals_from(self, start: int, before: Sequence[float]) -> NDArray[np.float64]:
        """Return `WHOLE_ROWS` rows with a column for each node: the whole of a shortest path from ``start`` to it.

        ``before`` has the values of the path up to ``start``. Unreachable nodes have NaN.
        """
        totals = np.full((WHOLE_ROWS, len(self.number)), np.nan)
        totals[:, start] = before
        for edges in self._steps(start):
            known, new = totals[:, self._from[edges]], self._parts[:, edges]
            nodes = self._to[edges]
            totals[:2, nodes] = known[:2] + new[:2]
            totals[2:4, nodes] = np.maximum(known[2:4], new[2:])
            totals[4, nodes] = known[4] + 1
        return totals

    def _steps(self, start: int) -> Iterator[_Numbers]:
        """Yield the last edges of the paths to all nodes at distance 1, 2 and so on.

        The nodes are in the order of a breadth-first search with a queue.
        """
        is_known = np.zeros(len(self.number), dtype=np.bool_)
        is_known[start] = True
        edge_into = np.full(len(self.number), -1, dtype=np.int64)
        nodes = np.array([start])
        while nodes.size:
            edges = self._edges_from(nodes)
            edges = edges[~is_known[self._to[edges]]]
            # The first of several edges into a node must win, so it is written last.
            edge_into[self._to[edges[::-1]]] = edges[::-1]
            edges = edges[edge_into[self._to[edges]] == edges]
            yield edges
            nodes = self._to[edges]
            is_known[nodes] = True

    def _edges_from(self, nodes: _Numbers) -> _Numbers:
        first = self._first_edge[nodes]
        counts = self._first_edge[nodes + 1] - first
        before = np.cumsum(counts) - counts
        return np.repeat(first - before, counts) + np.arange(counts.sum())
