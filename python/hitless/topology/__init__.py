"""Drawings of the network of a scenario, with its mechanisms and faults."""

from hitless.topology.folding import folded
from hitless.topology.network import network_of
from hitless.topology.picture import draw

__all__ = ["draw_topology"]


def draw_topology(effective: str, *, alone: bool = False) -> str:
    """Return the network of an effective scenario as an SVG element; ``alone`` adds a background and a style sheet."""
    return draw(folded(network_of(effective)), alone=alone)
