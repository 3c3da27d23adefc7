"""Plots: descriptions independent of any drawing library, and SVG made from them.

- ``plot``: descriptions; ``picture``: a plot for a notebook and for files
- ``svg``: a plot as SVG, from ``scales``, ``canvas``, ``curves``, ``marks`` and ``legend``
- ``figure``: a plot as a figure for papers, by matplotlib
- ``palette``: the colours of schemes
"""
