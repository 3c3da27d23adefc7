//! AFQ against tables, properties and an exact bit-by-bit round robin.

mod classes;
mod idle;
mod oracle;
mod rules;
mod schedulers;
mod shares;
mod world;
