"""Timelines of runs for the viewer of Perfetto."""
