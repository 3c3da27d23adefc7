"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, what switches do, and one run
- ``outcomes``, ``statistics``: what a run says, and how it is averaged
- the others: figures and tables
"""

from hitless.exhibits.deflection import (
    beyond,
    fair,
    incasts,
    load_sweep,
    networks,
    parameters,
    side_effects,
    small,
)

__all__ = ["beyond", "fair", "incasts", "load_sweep", "networks", "parameters", "side_effects", "small"]
