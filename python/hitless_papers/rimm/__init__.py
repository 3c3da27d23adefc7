"""The exhibits of RIMM (Lin, Hung and Wen, IEEE Access 2022).

- ``testbed``: figure 6, and the one set of parameters that serves all exhibits
- ``events``: a microburst in a run of its own, and what happened in it
- ``microbursts``: losses, table 1, figures 7 and 8; ``depth``: table 3, figure 2 and the end of a detour
- ``exact``: the release that the paper's switch could not do; ``rivals``: DIBS and DCTCP beside it
- ``beyond``: what the paper does not measure
"""
