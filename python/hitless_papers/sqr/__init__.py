"""The exhibits of SQR (Qu, Joshi, Chan, Leong, Guo, Liu, ICNP 2019).

- ``testbed``: figure 2 and the parameters of all exhibits
- ``fct``: short flows, one at a time, and the selection of those that a failure hits
- ``failure_hit``: figures 3 and 8; ``workloads``: figures 6, 10, 11 and 12
- ``masking``: one long flow: figures 7 and 9, and a check for loss and reordering
- ``overhead``: packet buffer and egress capacity: figures 13 and 14
- ``beyond``: experiments beyond the paper
"""
