"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, reactions of switches, and one run
- ``outcomes``, ``statistics``, ``metrics``: results of a run, their averages, and the names of figures for them
- ``testbed``: the testbed of figure 5; ``response_times``, ``bursts``: its two experiments
- ``fits``: densities and how far they are from a sample
- the others: figures and tables
"""
