"""Independent runs side by side, on this machine or on others, and runs that are finished already.

- ``point``: one run to do; ``pool``: runs on all cores
- ``executors``, ``elsewhere``: runs on other processes and machines
- ``keeping``, ``kept_lines``: finished runs on disk, which need not run again
- ``batch``: a set of runs with all of this
- ``result``: measured numbers, plots and tables; ``study``: a batch, and the result that is worked out from it
- ``scenario_run``: one run of a user's scenario
"""
