"""Plots: descriptions independent of any drawing library, and SVG made from them.

- ``plot``: descriptions; ``picture``: a plot for a notebook
- ``svg``: a plot as SVG, from ``scales``, ``canvas``, ``curves``, ``marks`` and ``legend``
- ``palette``: the colours of schemes
"""
