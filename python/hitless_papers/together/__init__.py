"""All five systems: at once, and on real packets."""
