"""What the exhibits showed when they were last run, kept in the repository, and the tables that show it.

- ``document``: the summary, judged rows by exhibit and seed, filled from folders of ``hitless reproduce``
- ``tables``: tables of it in Markdown
- ``pages``: pages with places for tables, filled and compared

``hitless results add`` and ``hitless results render`` are its commands.
"""
