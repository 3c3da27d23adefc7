"""What the exhibits showed when they were last run, kept in the repository, and the tables that show it."""
