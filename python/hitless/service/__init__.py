"""Common parts of all services of hitless."""
