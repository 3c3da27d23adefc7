"""Out-of-tree mechanisms and transports in Rust: users' crates, compiled with the simulator into one module."""
