"""Out-of-tree mechanisms and transports in Rust: users' crates, compiled with the simulator into one module.

- ``crates``   a user's crate: its names and its checks
- ``create``   a new crate, from a template
- ``sources``  the simulator's own crates
- ``record``   the record of built crates and their module
- ``build``    cargo
"""
