"""The choice of appendix E over all bitmaps, compared with its equations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitless_papers.deflection.port_choice import circular_shares, fair_shares

probabilities = st.floats(0.0, 0.99)


@pytest.mark.parametrize("ports", [1, 2, 4, 7])
@given(full=probabilities)
def test_with_equal_probabilities_each_port_has_the_same_share(ports, full):
    assert circular_shares([full] * ports) == pytest.approx([1 / ports] * ports)
    assert fair_shares([full] * ports) == pytest.approx([1 / ports] * ports)


@given(st.lists(probabilities, min_size=2, max_size=6))
def test_the_shares_are_those_of_equation_3(full):
    ports = len(full)
    chance = []
    for port in range(ports):
        passed, total = 1.0, 0.0
        # A start at the port, or before it with all ports in between full: for the port itself, only its own space
        # counts.
        for back in range(ports):
            total += passed / ports
            passed *= full[(port - 1 - back) % ports]
        chance.append((1 - full[port]) * total)
    assert circular_shares(full) == pytest.approx([share / sum(chance) for share in chance])


def test_the_port_behind_a_full_one_is_favoured():
    circular, fair = circular_shares([1.0, 0.0, 0.0, 0.0]), fair_shares([1.0, 0.0, 0.0, 0.0])
    assert circular == pytest.approx([0.0, 0.5, 0.25, 0.25])
    assert fair == pytest.approx([0.0, 1 / 3, 1 / 3, 1 / 3])
