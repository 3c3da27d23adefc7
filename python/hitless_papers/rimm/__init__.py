"""The exhibits of RIMM (Lin, Hung and Wen, IEEE Access 2022).

- ``testbed``: figure 6 and the parameters of all exhibits
- ``events``: a run with one microburst, and its outcome
- ``microbursts``: losses, table 1, figures 7 and 8, and the exact release that the paper's switch could not do
- ``depth``: table 3, figure 2 and the end of a detour; ``rivals``: DIBS and DCTCP
- ``beyond``: experiments beyond the paper
"""
