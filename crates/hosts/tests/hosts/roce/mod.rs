//! RoCEv2 from outside: random pipes, and DCQCN at a bottleneck that marks.

mod convergence;
mod random_pipes;
