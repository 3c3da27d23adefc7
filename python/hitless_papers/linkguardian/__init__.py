"""The exhibits of LinkGuardian (Joshi et al., SIGCOMM 2023).

- ``testbed``: the scenarios of the paper's figure 7 and the parameters of all exhibits
- ``stress``: line-rate traffic over the protected link: figures 8 and 14, table 4, header overhead, timeouts
- ``recovery``: delay of a retransmission: figure 19
- ``bursts``: consecutive losses: figure 20
- ``completion``: completion times of flows of 1 packet, 17 packets and 2 MB: figures 10, 11 and 12
- ``ablation``, ``reordering``: 17-packet flows by mechanism, and their senders' view of reordering: table 2, figure 13
- ``over_time``: one long flow while the link starts to corrupt and is then protected: figures 9 and 21
- ``goodput``: CUBIC on a 10G link: table 3
- ``rivals``: LinkGuardian compared with Wharf, Link Layer Retry and end-to-end recovery (beyond the paper)
- ``corruptd``: the monitor daemon of appendix C, on a link that corrupts and is repaired
- ``future``: future work of section 5: corruption in both directions, many links, bursts, two classes, fallback, 400G
- ``fleet``: a year of 100,224 links: figures 15 and 16
"""
