"""What people see of work under way, from a command line or from Python.

- ``console``    stdout for data, stderr for everything else
- ``progress``   a bar, or a line now and then, for what takes longer than two seconds
- ``interrupt``  Ctrl-C as an end with what is done
"""
