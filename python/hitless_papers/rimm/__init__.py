"""The exhibits of RIMM (Lin, Hung and Wen, IEEE Access 2022).

- ``testbed``: figure 6, and the one set of parameters that serves all exhibits
- ``events``: a microburst in a separate run, and its outcome
- ``microbursts``: losses, table 1, figures 7 and 8, and the release that the paper's switch could not do
- ``depth``: table 3, figure 2 and the end of a detour; ``rivals``: DIBS and DCTCP
- ``beyond``: experiments beyond the paper
"""
