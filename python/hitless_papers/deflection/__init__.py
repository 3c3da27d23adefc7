"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, what switches do, and one run
- ``outcomes``, ``statistics``, ``metrics``: what a run says, how it is averaged, and what figures call it
- ``testbed``: the testbed of figure 5; ``response_times``, ``bursts``: its two experiments
- ``fits``: densities and how far they are from a sample
- the others: figures and tables
"""
