"""Display of work in progress, on a command line or in Python.

- ``console``    stdout for data, stderr for everything else
- ``progress``   a bar, or an occasional line, for work that takes longer than two seconds
- ``interrupt``  clean stop on Ctrl-C
"""
