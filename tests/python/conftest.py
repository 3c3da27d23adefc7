"""Tests run on the fake simulator; those of the real one start a process of their own."""

import fake_hitless

fake_hitless.install()
