"""Findings of a campaign on one screen, for the terminal and the report's first page."""
