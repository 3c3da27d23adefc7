"""The transports of today's AI fabrics: Ultra Ethernet, MRC, RoCE and TCP on sprayed packets.

- ``fabric``: the fat trees
- ``validation``: Ultra Ethernet's own experiments, judged against the results of its simulator
- ``one_bad_link``: one bad link under each transport, with and without mechanisms; nobody has published these numbers
- ``transports``, ``troubles``: its transports with their switches and hosts; its links and their protections
- ``answer``: README's table and sentences
"""
