"""Reports: one HTML file that opens offline.

- ``page``: the page, from ``templates/``; ``scenario``: what a report of a scenario of one's own says of it
"""
