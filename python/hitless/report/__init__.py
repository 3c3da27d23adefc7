"""Reports: one HTML file that opens offline, and its pictures as files.

- ``page``: the page, from ``templates/``; ``scenario``: what a report of a scenario of one's own says of it
- ``drawing``: a plot as SVG, from ``scales``, ``canvas``, ``curves``, ``marks`` and ``legend``
- ``palette``: the colours of schemes; ``paper_points``: the paper's values in plots, from the rows
"""
