"""Shortest ways through a fabric, by number of links: thousands of searches through thousands of switches."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.int64]


class Ways:
    """The nodes of a graph and the edges between them, each in one direction."""

    def __init__(self, next_to: Mapping[str, Iterable[str]]) -> None:
        """``next_to`` has the neighbours of every node. Of ways of one length that by the first of them is taken."""
        self._names = list(next_to)
        self._number = {name: number for number, name in enumerate(self._names)}
        neighbours = [[self._number[other] for other in others] for others in next_to.values()]
        degrees = [len(others) for others in neighbours]
        self._first_edge = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(np.int64)
        self._from = np.repeat(np.arange(len(degrees)), degrees)
        self._to = np.array([other for others in neighbours for other in others], dtype=np.int64)
        self._found: tuple[int, _Numbers] | None = None

    def between(self, start: str, end: str) -> list[tuple[str, str]]:
        """The edges of a shortest way, each by its ends; KeyError where there is none.

        The ways from one start are searched for together, and those of the last one are kept.
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
        """The last edge of a shortest way to each node; -1 where there is none, and at the start.

        All nodes that are as many edges away are found in one step, in the order in which a queue of them would find
        them.
        """
        edge_into = np.full(len(self._names), -1, dtype=np.int64)
        is_known = np.zeros(len(self._names), dtype=np.bool_)
        is_known[start] = True
        nodes = np.array([start])
        while nodes.size:
            edges = self._edges_from(nodes)
            edges = edges[~is_known[self._to[edges]]]
            # Of several edges into a node the first is to stay: the last one that is written.
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
