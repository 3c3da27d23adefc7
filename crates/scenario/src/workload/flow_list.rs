//! Lists of flows in files, one flow per line: `source destination size start_ns`.

use hitless_core::settings::{LineError, without_byte_order_mark};
use hitless_core::wire::{HostId, Time};

/// A line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// The sending host.
    pub source: HostId,
    /// The receiving host.
    pub destination: HostId,
    /// Size, at least 1, in bytes; in packets if the group sets their payload.
    pub size: u64,
    /// Start time.
    pub start: Time,
}

macro_rules! embedded_lists {
    ($($name:literal),* $(,)?) => {
        /// The built-in lists: name and text.
        pub const LISTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../data/bench/", $name, ".flows")))),*];
    };
}

embedded_lists!("A_perm128", "B_rand320", "C_incast64");

/// Returns the text of the list called `name` among [`LISTS`].
pub fn named(name: &str) -> Option<&'static str> {
    LISTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Parses a list for a fabric of `hosts` hosts; flows are in the order of the text.
///
/// # Errors
/// The first invalid line.
pub fn parse(text: &str, hosts: usize) -> Result<Vec<ListedFlow>, LineError> {
    let lines = (1..).zip(without_byte_order_mark(text).lines()).map(|(number, line)| (number, line.trim()));
    let flows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    flows.map(|(line, text)| read_line(text, hosts).map_err(|rule| LineError { line, rule })).collect()
}

fn read_line(line: &str, hosts: usize) -> Result<ListedFlow, String> {
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(|word| word.parse().ok()).collect();
    let Some(&[source, destination, size, start_ns]) = numbers.as_deref() else {
        return Err(format!("must be four whole numbers `source destination size start_ns`, not '{line}'"));
    };
    if let Some(host) = [source, destination].into_iter().find(|&host| host >= hosts as u64) {
        return Err(format!("host {host} does not exist: there are {hosts}, counted from 0"));
    }
    if source == destination {
        return Err(format!("host {source} cannot send to itself"));
    }
    if size == 0 {
        return Err("a flow sends at least 1 byte or packet".into());
    }
    let start_ps = start_ns.checked_mul(1_000).ok_or("the start is out of range")?;
    let [source, destination] = [source, destination].map(|host| HostId(host as u32));
    Ok(ListedFlow { source, destination, size, start: Time(start_ps) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_that_come_along_have_the_sizes_they_are_known_for() {
        let table =
            [("A_perm128", 128, 128, 179_200), ("B_rand320", 320, 640, 448_000), ("C_incast64", 128, 64, 22_400)];
        for (name, hosts, flows, packets) in table {
            let list = parse(named(name).unwrap(), hosts).unwrap();
            assert_eq!(list.len(), flows, "{name}");
            assert_eq!(list.iter().map(|flow| flow.size).sum::<u64>(), packets, "{name}");
        }
    }

    #[test]
    fn a_byte_order_mark_and_other_line_ends_say_nothing() {
        let list = parse("\u{feff}0 1 5 0\r\n1 0 6 2\r\n", 2).unwrap();
        assert_eq!(
            list.iter().map(|flow| (flow.size, flow.start)).collect::<Vec<_>>(),
            [(5, Time(0)), (6, Time(2_000))]
        );
    }

    #[test]
    fn bad_lines_are_named() {
        let table = [
            ("0 1 5", "line 1: must be four whole numbers `source destination size start_ns`, not '0 1 5'"),
            ("# fine\n\n0 9 5 0", "line 3: host 9 does not exist: there are 4, counted from 0"),
            ("1 1 5 0", "line 1: host 1 cannot send to itself"),
            ("0 1 0 0", "line 1: a flow sends at least 1 byte or packet"),
            ("0 1 1 18446744073709551615", "line 1: the start is out of range"),
        ];
        for (text, message) in table {
            assert_eq!(parse(text, 4).unwrap_err().to_string(), message);
        }
    }
}
