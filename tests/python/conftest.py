"""Tests run on the fake simulator; those for the real one start separate processes."""

import fake_hitless  # noqa: F401 - which puts itself in the simulator's place
