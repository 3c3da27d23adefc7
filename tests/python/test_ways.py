"""Shortest paths through a fabric, compared with a search that takes one node at a time."""

import math
from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from hitless.outcome.ways import Ways

PAIRS = st.tuples(st.integers(0, 19), st.integers(0, 19)).filter(lambda pair: pair[0] != pair[1])
AT_START = (1.0, 2.0, 3.0, 4.0, 1.0)


def one_by_one(next_to, start):
    """Return the whole of a path to each reachable node, found with a queue."""
    found, waiting = {start: AT_START}, deque([start])
    while waiting:
        node = waiting.popleft()
        for other, (delay, per_bit, slowest, overhead) in next_to[node].items():
            if other not in found:
                before = found[node]
                summed = before[0] + delay, before[1] + per_bit
                found[other] = *summed, max(before[2], slowest), max(before[3], overhead), before[4] + 1
                waiting.append(other)
    return found


@given(nodes=st.permutations(range(20)), links=st.dictionaries(PAIRS, st.tuples(*[st.floats(0, 9)] * 4), max_size=60))
def test_ways_are_those_of_a_search_one_by_one(nodes, links):
    next_to = {f"s{node}": {} for node in nodes}
    for (a, b), parts in links.items():
        next_to[f"s{a}"][f"s{b}"] = parts
        next_to[f"s{b}"][f"s{a}"] = parts
    ways = Ways(next_to)
    for start in next_to:
        totals = ways.totals_from(ways.number[start], AT_START)
        expected = one_by_one(next_to, start)
        for end, column in zip(next_to, totals.T.tolist(), strict=True):
            assert tuple(column) == expected[end] if end in expected else all(map(math.isnan, column))
