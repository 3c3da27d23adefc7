"""Users' own mechanisms and transports in Rust: crates, compiled with the simulator into a custom native module.

- ``crates``   a user's crate: its names and its checks
- ``create``   a new crate, from a template
- ``sources``  the simulator's own crates
- ``record``   the record of built crates and their module
- ``build``    cargo
"""
