"""Reports: one HTML file that opens offline.

- ``figures``: plotly figures from the descriptions in `hitless.plot`
- ``page``: the page, from ``templates/``
"""
