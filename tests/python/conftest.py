"""Tests run on the fake simulator; those of the real one start a process of their own."""

import fake_hitless  # noqa: F401 - which puts itself in the simulator's place
