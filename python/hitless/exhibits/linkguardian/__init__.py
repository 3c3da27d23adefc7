"""The exhibits of LinkGuardian (Joshi et al., SIGCOMM 2023).

- ``testbed``: the scenarios of the paper's figure 7, and the one set of parameters that serves all exhibits
- ``stress``: line-rate traffic over the protected link: figures 8 and 14, table 4, header overhead, timeouts
- ``latency``: completion times of one-packet flows: figure 10
- ``goodput``: CUBIC on a 10G link: table 3
- ``rivals``: LinkGuardian beside Wharf, Link Layer Retry and end-to-end recovery (beyond the paper)
- ``corruptd``: the monitor daemon of appendix C, on a link that corrupts and is repaired (``repair``)
- ``fleet``: a year of 100,224 links: figures 15 and 16
"""

from hitless.exhibits.linkguardian import corruptd, fleet, goodput, latency, rivals, stress

__all__ = ["corruptd", "fleet", "goodput", "latency", "rivals", "stress"]
