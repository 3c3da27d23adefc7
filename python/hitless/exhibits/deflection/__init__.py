"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, what switches do, and one run
- ``outcomes``, ``statistics``: what a run says, and how it is averaged
- the others: figures and tables
"""

from hitless.exhibits.deflection import load_sweep, small

__all__ = ["load_sweep", "small"]
