"""The command line `hitless`."""
