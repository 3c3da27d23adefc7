"""Shortest paths by number of links: fast enough for thousands of searches in thousands of switches."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.int64]


class Ways:
    """The nodes of a graph and the directed edges between them."""

    def __init__(self, next_to: Mapping[str, Iterable[str]]) -> None:
        """``next_to`` has the neighbours of every node. Among paths of equal length, earlier neighbours win."""
        self._names = list(next_to)
        self._number = {name: number for number, name in enumerate(self._names)}
        neighbours = [[self._number[other] for other in others] for others in next_to.values()]
        degrees = [len(others) for others in neighbours]
        self._first_edge = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(np.int64)
        self._from = np.repeat(np.arange(len(degrees)), degrees)
        self._to = np.array([other for others in neighbours for other in others], dtype=np.int64)
        self._found: tuple[int, _Numbers] | None = None

    def between(self, start: str, end: str) -> list[tuple[str, str]]:
        """Return the edges of a shortest path as pairs of nodes. Raises `KeyError` if the nodes are not connected.

        One search finds the paths from a start to all nodes; the last search is cached.
        """
        first, node = self._number[start], self._number[end]
        if self._found is None or self._found[0] != first:
            self._found = (first, self._search(first))
        edge_into, way = self._found[1], []
        while node != first:
            edge = edge_into[node]
            if edge < 0:
                raise KeyError(end)
            before = int(self._from[edge])
            way.append((self._names[before], self._names[node]))
            node = before
        return way[::-1]

    def _search(self, start: int) -> _Numbers:
        """Return the last edge of a shortest path to each node; -1 for the start and for unreachable nodes.

        One step finds all nodes at the same distance, in the order of a breadth-first search with a queue.
        """
        edge_into = np.full(len(self._names), -1, dtype=np.int64)
        is_known = np.zeros(len(self._names), dtype=np.bool_)
        is_known[start] = True
        nodes = np.array([start])
        while nodes.size:
            edges = self._edges_from(nodes)
            edges = edges[~is_known[self._to[edges]]]
            # The first of several edges into a node must win, so it is written last.
            edge_into[self._to[edges[::-1]]] = edges[::-1]
            edges = edges[edge_into[self._to[edges]] == edges]
            nodes = self._to[edges]
            is_known[nodes] = True
        return edge_into

    def _edges_from(self, nodes: _Numbers) -> _Numbers:
        first = self._first_edge[nodes]
        counts = self._first_edge[nodes + 1] - first
        before = np.cumsum(counts) - counts
        return np.repeat(first - before, counts) + np.arange(counts.sum())
