//! How much memory a run may take.

use std::fs;

/// The variable by which a limit in bytes reaches every process of a command.
const VARIABLE: &str = "HITLESS_MEMORY";

/// The limit in bytes: what was asked for, or else what the machine has and lets this process have. None where nobody
/// says.
pub fn limit() -> Option<u64> {
    let asked = std::env::var(VARIABLE).ok().and_then(|text| text.parse().ok());
    asked.or_else(|| [available(), of_group(), of_process()].into_iter().flatten().min())
}

/// What is free, or can be freed at once (proc_meminfo(5)).
fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// What the container may use (cgroups(7), version 2); "max" is no limit.
fn of_group() -> Option<u64> {
    fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}

/// What the shell lets a process have (ulimit -v).
fn of_process() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/limits").ok()?;
    let line = text.lines().find(|line| line.starts_with("Max address space"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}
