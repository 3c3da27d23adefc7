"""What a campaign found, on one screen: for the terminal and for the report's first page alike.

- ``chosen``: which rows say what a mechanism buys, from ``chosen.toml``; README's table has the same rows
- ``gains``: these rows as they came out; ``verdicts``: how far from the papers; ``screen``: everything together
"""
