//! AFQ against tables, properties and an exact bit-by-bit round robin.

mod idle;
mod oracle;
mod rules;
mod schedulers;
mod shares;
mod world;
