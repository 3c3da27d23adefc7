//! Memory limits of this process's control groups: cgroups(7), both versions.

use std::fs;
use std::path::{Path, PathBuf};

/// Files of a control group, which differ between the two versions.
struct Version {
    /// Type of its file system in proc_pid_mountinfo(5).
    file_system: &'static str,
    /// Files with one limit each. "max", or a number beyond any memory, means unlimited.
    limits: &'static [&'static str],
    used: &'static str,
    /// File cache that the kernel frees first, a line of memory.stat.
    cache: &'static str,
}

const FIRST: Version = Version {
    file_system: "cgroup",
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cache: "total_inactive_file",
};

const SECOND: Version = Version {
    file_system: "cgroup2",
    // Beyond memory.high the kernel slows a process down until it stops.
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cache: "inactive_file",
};

/// Limit of a group or of an enclosing group.
#[derive(Clone, Debug)]
pub struct GroupLimit {
    pub bytes: u64,
    used: PathBuf,
    stat: PathBuf,
    cache: &'static str,
}

impl GroupLimit {
    /// Bytes that the group can still allocate; `None` if the kernel does not report it.
    pub fn free_bytes(&self) -> Option<u64> {
        let used = number(&self.used)?;
        let cache = line_of(&self.stat, self.cache).unwrap_or(0);
        Some(self.bytes.saturating_sub(used.saturating_sub(cache)))
    }
}

/// Returns the limits of all groups from the process's own to the topmost visible one. `root` contains proc and sys.
pub fn limits(root: &Path) -> Vec<GroupLimit> {
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
    let (own, mounts) = (read("proc/self/cgroup"), read("proc/self/mountinfo"));
    mounts.lines().filter_map(Mount::of).flat_map(|mount| mount.limits(root, &own)).collect()
}

/// Mounted hierarchy of groups.
struct Mount {
    version: &'static Version,
    /// Group at the root of the mount.
    group: String,
    place: String,
}

impl Mount {
    /// Parses a line of mountinfo; `None` unless the hierarchy limits memory.
    fn of(line: &str) -> Option<Self> {
        let (of_mount, of_file_system) = line.split_once(" - ")?;
        let mut words = of_mount.split(' ').skip(3).map(unescaped);
        let (group, place) = (words.next()?, words.next()?);
        let mut words = of_file_system.split(' ');
        let version = match words.next()? {
            "cgroup2" => &SECOND,
            "cgroup" if words.nth(1)?.split(',').any(|option| option == "memory") => &FIRST,
            _ => return None,
        };
        Some(Self { version, group, place })
    }

    fn limits(&self, root: &Path, own: &str) -> Vec<GroupLimit> {
        let top = root.join(self.place.trim_start_matches('/'));
        let path = own.lines().find_map(|line| self.path_in(line)).unwrap_or_default();
        let folder = top.join(path);
        folder.ancestors().take_while(|folder| folder.starts_with(&top)).flat_map(|one| self.of_group(one)).collect()
    }

    /// Returns the process's group as a path below the mount, from a line of proc/self/cgroup ("4:memory:/slurm/job").
    /// It is the top of the mount if the group is not below it, as in a container that keeps the names of its host.
    fn path_in(&self, line: &str) -> Option<PathBuf> {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let is_here = match self.version.file_system {
            "cgroup2" => controllers.is_empty(),
            _ => controllers.split(',').any(|name| name == "memory"),
        };
        let below = || Some(Path::new(path).strip_prefix(&self.group).unwrap_or(Path::new("")).to_path_buf());
        is_here.then(below).flatten()
    }

    fn of_group(&self, folder: &Path) -> Vec<GroupLimit> {
        let Version { limits, used, cache, .. } = *self.version;
        let limit = |bytes| GroupLimit { bytes, used: folder.join(used), stat: folder.join("memory.stat"), cache };
        let files = limits.iter().filter_map(|name| number(&folder.join(name)));
        // Set by an enclosing group, which can be above the mount.
        let around = line_of(&folder.join("memory.stat"), "hierarchical_memory_limit");
        files.chain(around).map(limit).collect()
    }
}

/// Decodes a path of mountinfo: a space is `\040`.
fn unescaped(word: &str) -> String {
    word.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

fn number(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn line_of(file: &Path, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}
