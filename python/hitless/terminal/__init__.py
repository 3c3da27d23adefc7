"""Display of work in progress, on a command line or in Python."""
