//! Annotated scenarios to start from; the same files as in the project's `examples` folder.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// The argument of [`example`].
    pub name: &'static str,
    pub text: &'static str,
}

impl Example {
    /// Returns the first line of the text, which says what the example shows.
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().unwrap_or("").trim_start_matches(['#', ' '])
    }
}

macro_rules! embedded_examples {
    ($($name:literal),* $(,)?) => {
        pub const EXAMPLES: &[Example] =
            &[$(Example { name: $name, text: include_str!(concat!("../../../examples/", $name, ".toml")) }),*];
    };
}

embedded_examples!(
    "dumbbell",
    "leaf-spine-websearch",
    "leaf-spine-lossy",
    "incast",
    "incast-deflection",
    "fat-tree-permutation",
    "linkguardian-testbed",
    "link-failure",
    "sqr-testbed",
    "lossy-link",
    "cut-link",
    "afq-neighbours",
    "microburst",
    "all-together",
    "sprayed-permutation",
    "bench-a",
    "bench-b",
    "bench-c",
    "bench-d",
    "bench-w",
);

pub fn example(name: &str) -> Option<&'static str> {
    EXAMPLES.iter().find(|example| example.name == name).map(|example| example.text)
}
