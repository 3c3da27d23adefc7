"""Comparison of two scenarios that run with the same seeds.

- ``sides``: the two scenarios: two files, or one with and without a mechanism or with other settings
- ``pairs``: the runs in pairs, and their evaluation
"""
