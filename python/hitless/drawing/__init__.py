"""Plots: descriptions free of any drawing library, and SVG made of them.

- ``plot``: descriptions; ``picture``: a plot as a notebook shows it
- ``svg``: a plot as SVG, from ``scales``, ``canvas``, ``curves``, ``marks`` and ``legend``
- ``palette``: the colours of schemes
"""
