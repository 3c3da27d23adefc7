//! Reads files that users name.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Opens a regular file. Other kinds of files can block the reader or never end.
pub fn open(path: &Path) -> io::Result<File> {
    // The check comes before opening, because opening a named pipe already blocks.
    let metadata = fs::metadata(path)?;
    if metadata.is_file() || metadata.is_dir() {
        return File::open(path);
    }
    Err(io::Error::other("it is a pipe or a device: a regular file is needed"))
}

/// Reads a regular file as a whole.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file as text.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::other("it is not text in UTF-8"))
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Removes a leading byte order mark, if there is one.
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_never_ends_is_refused() {
        for path in ["/dev/zero", "/dev/null"] {
            let refused = read(Path::new(path)).expect_err("no regular file");
            assert!(refused.to_string().contains("regular file"), "{path}: {refused}");
        }
    }

    #[test]
    fn a_named_pipe_is_refused_without_waiting_for_a_writer() {
        let path = std::env::temp_dir().join(format!("hitless-pipe-{}", std::process::id()));
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
        assert!(made.success());
        let refused = read_text(&path).expect_err("no regular file");
        fs::remove_file(&path).expect("it is ours");
        assert!(refused.to_string().contains("regular file"), "{refused}");
    }
}
