"""Out-of-tree mechanisms in Rust: users' crates, compiled with the simulator into a custom native module.

- ``crates``   a crate of a mechanism: its names and its checks
- ``create``   a new crate, from ``template``
- ``sources``  the simulator's own crates
- ``record``   the record of built crates and their module
- ``build``    cargo
"""
