"""Mechanisms as Python classes, for prototypes: the hooks of the Rust ones, with the same names.

- ``mechanism`` the base class and its needs
- ``settings``  the schema of a scenario from a dataclass
- ``kinds``     the classes that scenarios of this process can name, and their files

See docs/how-to/mechanism-in-python.md.
"""
