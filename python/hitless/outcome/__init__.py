"""Results of a run, in the quantities that people ask for.

- ``run``: the run with its summary and its tables
- ``ideal``: ideal completion time of a message in the empty fabric, for slowdowns
- ``slowdowns``: completion times over the ideal ones, as a column of tables
- ``schema``: types, units and meanings of the columns in files
- ``times``: completion times of messages by group and size, and of queries
- ``losses``: packets lost end to end, without frames that only mechanisms missed
- ``autopsy``: completion times divided along the critical path, and explained
- ``mechanisms``: the activity of each mechanism in three numbers
- ``pictures``: pictures of a run
- ``metrics``: all of it as named numbers, for comparisons
"""
