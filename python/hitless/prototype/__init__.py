"""Mechanisms as Python classes, for prototypes: the hooks of the Rust ones, with the same names.

- ``mechanism`` the class to derive from, and what it asks for
- ``settings``  the schema of a scenario from a dataclass
- ``kinds``     which classes scenarios of this process may name, and the files that they are read from

See docs/how-to/mechanism-in-python.md.
"""
