"""The exhibits of LinkGuardian (Joshi et al., SIGCOMM 2023).

- ``testbed``: the scenarios of the paper's figure 7, and the one set of parameters that serves all exhibits
- ``stress``: line-rate traffic over the protected link: figures 8 and 14, table 4, header overhead, timeouts
- ``recovery``: how long a retransmission takes: figure 19
- ``bursts``: packets lost in a row: figure 20
- ``completion``: completion times of flows of one packet, of 17 packets and of 2 MB: figures 10, 11 and 12
- ``ablation``, ``reordering``: 17-packet flows by mechanism, and how their senders see reordering: table 2, figure 13
- ``over_time``: one long flow while the link begins to corrupt and is protected: figures 9 and 21
- ``goodput``: CUBIC on a 10G link: table 3
- ``rivals``: LinkGuardian compared with Wharf, Link Layer Retry and end-to-end recovery (beyond the paper)
- ``corruptd``: the monitor daemon of appendix C, on a link that corrupts and is repaired
- ``future``: future work of section 5: both ways, many links, bursts, two classes, fallback, 400G
- ``fleet``: a year of 100,224 links: figures 15 and 16
"""
