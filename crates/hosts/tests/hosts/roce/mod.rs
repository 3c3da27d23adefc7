//! RoCEv2 from outside: random pipes, and what DCQCN makes of a bottleneck that marks.

mod convergence;
mod random_pipes;
