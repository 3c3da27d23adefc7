"""Plots: descriptions independent of any drawing library, and SVG made from them."""
