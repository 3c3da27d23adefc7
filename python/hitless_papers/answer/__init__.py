"""Findings of a campaign on one screen, for the terminal and the report's first page.

- ``chosen``: the rows that show a mechanism's gain, from ``chosen.toml``; README's table has the same rows
- ``gains``: the results of these rows; ``verdicts``: distance from the papers; ``screen``: the whole screen
"""
