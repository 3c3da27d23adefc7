"""What one run of a scenario says, in the quantities that people ask for.

- ``run``: the run itself: its summary and its tables
- ``ideal``: how long a message takes in the empty fabric, for slowdowns
- ``times``: completion times of messages by group and size, and of queries
- ``losses``: packets lost to hosts, told apart from frames that only mechanisms missed
- ``mechanisms``: what each mechanism did, in three numbers
- ``pictures``: how it looks
- ``metrics``: all of it as named numbers, for comparisons
"""
