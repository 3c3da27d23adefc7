//! Network namespaces.

use std::fs::File;
use std::io;
use std::path::Path;
use std::thread;

use crate::interfaces::sys::socket::enter_network_namespace;

/// A network namespace that is kept alive by this value.
#[derive(Debug)]
pub struct Namespace(File);

impl Namespace {
    /// The one that `ip netns add NAME` made.
    ///
    /// # Errors
    /// `NotFound` when there is none of that name.
    pub fn named(name: &str) -> io::Result<Self> {
        Self::at(&Path::new("/run/netns").join(name))
    }

    /// The one that the file at `path` stands for, as `/proc/PID/ns/net` does.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn at(path: &Path) -> io::Result<Self> {
        File::open(path).map(Self)
    }

    /// Does `work` in a thread of its own that is in this namespace. Sockets that it opens stay in the namespace; the
    /// calling thread does not leave its own.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_SYS_ADMIN.
    ///
    /// # Panics
    /// When `work` does.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        thread::scope(|scope| {
            let thread = scope.spawn(|| enter_network_namespace(&self.0).map(|()| work()));
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
