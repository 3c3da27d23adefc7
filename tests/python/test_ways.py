"""Shortest paths through a fabric, compared with a search that takes one node at a time."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless.outcome.ways import Ways

PAIRS = st.tuples(st.integers(0, 19), st.integers(0, 19)).filter(lambda pair: pair[0] != pair[1])


def one_by_one(next_to, start):
    """Return the edges of a path to each reachable node, found with a queue."""
    ways, waiting = {start: []}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other in next_to[node]:
            if other not in ways:
                ways[other] = [*ways[node], (node, other)]
                waiting.append(other)
    return ways


@given(nodes=st.permutations(range(20)), links=st.lists(PAIRS, max_size=60, unique_by=frozenset))
def test_ways_are_those_of_a_search_one_by_one(nodes, links):
    next_to = {f"s{node}": [] for node in nodes}
    for a, b in links:
        next_to[f"s{a}"].append(f"s{b}")
        next_to[f"s{b}"].append(f"s{a}")
    ways = Ways(next_to)
    for start in next_to:
        expected = one_by_one(next_to, start)
        for end in next_to:
            if end in expected:
                assert ways.between(start, end) == expected[end]
            else:
                with pytest.raises(KeyError, match=end):
                    ways.between(start, end)
