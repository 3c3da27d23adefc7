"""Two scenarios beside each other, run with the same seeds.

- ``sides``: the two scenarios: two files, or one with and without a mechanism or with other settings
- ``pairs``: the runs, pair by pair, and what they say
"""
