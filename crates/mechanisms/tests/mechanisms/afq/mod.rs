//! AFQ against tables, properties and an exact bit-by-bit round robin.

mod oracle;
mod rules;
mod schedulers;
mod shares;
mod world;
