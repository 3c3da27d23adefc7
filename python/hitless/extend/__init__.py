"""Mechanisms out of the tree, in Rust: crates of users, compiled with the simulator into a native module of their own.

- ``crates``   a crate of a mechanism: its names, and what is wrong with it
- ``create``   a crate to begin with, from ``template``
- ``sources``  the simulator's own crates
- ``record``   which crates were built, and into what
- ``build``    cargo
"""
