"""The exhibits of LinkGuardian (Joshi et al., SIGCOMM 2023).

- ``testbed``: the scenarios of the paper's figure 7, and the one set of parameters that serves all exhibits
- ``stress``: line-rate traffic over the protected link: figures 8 and 14, table 4, header overhead, timeouts
- ``latency``: completion times of one-packet flows: figure 10
- ``goodput``: CUBIC on a 10G link: table 3
"""

from hitless.exhibits.linkguardian import goodput, latency, stress

__all__ = ["goodput", "latency", "stress"]
