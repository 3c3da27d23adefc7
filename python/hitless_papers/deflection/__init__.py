"""Exhibits of "Practical Packet Deflection in Datacenters" (Abdous, Sharafzadeh and Ghorbani, CoNEXT 2023).

- ``fabrics``, ``schemes``, ``setting``: networks, what switches do, and one run
- ``reduction``: what is kept of a run; ``outcomes``, ``statistics``: what it says, and how it is averaged
- ``testbed``: the testbed of figure 5; ``response_times``, ``bursts``: its two experiments
- ``fits``: densities and how far they are from a sample
- the others: figures and tables
"""
