//! Tests of everything that reads bytes from a wire: tables, arbitrary bytes, and the seeds of the fuzzers.

mod captures;
mod frames;
mod samples;
mod seeds;
