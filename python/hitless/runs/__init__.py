"""Independent runs in parallel, on this machine or on others, and cached runs.

- ``point``: one run to do; ``pool``: runs on all cores
- ``executors``, ``elsewhere``: runs in other processes and on other machines
- ``keeping``, ``kept_lines``: finished runs on disk, which do not run again
- ``batch``: a set of runs that uses all of the above
- ``result``: measured numbers, plots and tables; ``study``: a batch, and the result computed from it
- ``watching``: progress and Ctrl-C for calls from Python
- ``scenario_run``: one run of a user's scenario
"""
