"""Reports: one HTML file that opens offline.

- ``page``: the page, from ``templates/``; ``scenario``: the facts and tables for a report of a user's scenario
"""
