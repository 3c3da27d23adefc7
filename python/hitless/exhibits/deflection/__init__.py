"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, what switches do, and one run
- ``reduction``: what is kept of a run; ``outcomes``, ``statistics``: what it says, and how it is averaged
- ``testbed``: the testbed of figure 5; ``response_times``, ``bursts``: its two experiments
- ``fits``: densities and how far they are from a sample
- the others: figures and tables
"""

from hitless.exhibits.deflection import (
    beyond,
    control_packets,
    example,
    fair,
    incasts,
    load_sweep,
    networks,
    parameters,
    port_choice,
    priorities,
    prototype,
    resources,
    side_effects,
    small,
)

__all__ = [
    "beyond",
    "control_packets",
    "example",
    "fair",
    "incasts",
    "load_sweep",
    "networks",
    "parameters",
    "port_choice",
    "priorities",
    "prototype",
    "resources",
    "side_effects",
    "small",
]
