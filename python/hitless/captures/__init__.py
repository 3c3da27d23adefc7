"""Captures of packets in folders of results: reading them, and the way of one packet."""
