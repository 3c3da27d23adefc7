//! Lists of flows in files, one flow per line: `source destination size start_ns [after [COUNT of] FLOW ...]`.

use std::str::FromStr;

use hitless_core::settings::{LineError, without_byte_order_mark};
use hitless_core::wire::{HostId, Time};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    pub source: HostId,
    pub destination: HostId,
    /// Size, at least 1, in bytes; in packets if the group sets their payload.
    pub size: u64,
    /// Start time; a dependent flow starts this long after the flows that it waits for.
    pub start: Time,
    /// Flows that must end before it, by their position in the list; empty for a flow that starts by time.
    pub after: Vec<usize>,
    /// Number of them that must have ended.
    pub needed: u32,
    /// Number of its line.
    pub number: usize,
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
pub fn parse(text: &str, hosts: usize) -> Result<Vec<ListedFlow>, LineError> {
    let lines = (1..).zip(without_byte_order_mark(text).lines()).map(|(number, line)| (number, line.trim()));
    let flows = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let read = |(line, text)| read_line(text, hosts, line).map_err(|rule| LineError { line, rule });
    let flows = flows.map(read).collect::<Result<Vec<_>, _>>()?;
    check_dependencies(&flows)?;
    Ok(flows)
}

fn whole_numbers<N: FromStr>(words: &str) -> Option<Vec<N>> {
    words.split_whitespace().map(|word| word.parse().ok()).collect()
}

fn read_line(text: &str, hosts: usize, number: usize) -> Result<ListedFlow, String> {
    let (line, waits) = text.split_once("after").map_or((text, None), |(line, waits)| (line, Some(waits)));
    let (after, needed) = waits.map_or(Ok((Vec::new(), 0)), read_dependencies)?;
    let numbers: Option<Vec<u64>> = whole_numbers(line);
    let Some(&[source, destination, size, start_ns]) = numbers.as_deref() else {
        return Err(format!("must be four whole numbers `source destination size start_ns`, not '{text}'"));
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
    Ok(ListedFlow { source, destination, size, start: Time(start_ps), after, needed, number })
}

/// Reads the flows after "after", and the number of them that must have ended.
fn read_dependencies(text: &str) -> Result<(Vec<usize>, u32), String> {
    let rule =
        || format!("'after' must be followed by flows, numbered from 0 by line, or `COUNT of FLOW ...`, not '{text}'");
    let (count, flows) = text.split_once("of").map_or((None, text), |(count, flows)| (Some(count), flows));
    let mut flows: Vec<usize> = whole_numbers(flows).ok_or_else(rule)?;
    let named = flows.len();
    flows.sort_unstable();
    flows.dedup();
    if flows.is_empty() || flows.len() < named {
        return Err(if named == 0 { rule() } else { "a flow is named twice behind 'after'".into() });
    }
    let needed = match count.map(|count| whole_numbers::<u32>(count).ok_or_else(rule)).transpose()?.as_deref() {
        None => flows.len() as u32,
        Some(&[needed]) => needed,
        Some(_) => return Err(rule()),
    };
    if needed == 0 || needed as usize > flows.len() {
        return Err(format!("cannot wait for {needed} of {} flows", flows.len()));
    }
    Ok((flows, needed))
}

/// Requires that each dependent flow can start, if all flows end: a flow that waits for itself cannot.
fn check_dependencies(flows: &[ListedFlow]) -> Result<(), LineError> {
    let mut followers = vec![Vec::new(); flows.len()];
    for (position, flow) in flows.iter().enumerate() {
        for &before in &flow.after {
            let rule = || format!("flow {before} does not exist: the list has {}, counted from 0", flows.len());
            followers.get_mut(before).ok_or_else(|| LineError { line: flow.number, rule: rule() })?.push(position);
        }
    }
    let mut missing: Vec<u32> = flows.iter().map(|flow| flow.needed).collect();
    let mut ended: Vec<usize> = (0..flows.len()).filter(|&position| missing[position] == 0).collect();
    while let Some(position) = ended.pop() {
        for &follower in &followers[position] {
            if missing[follower] == 1 {
                ended.push(follower);
            }
            missing[follower] = missing[follower].saturating_sub(1);
        }
    }
    match flows.iter().zip(&missing).find(|(_, missing)| **missing > 0) {
        Some((flow, _)) => {
            Err(LineError { line: flow.number, rule: "the flow waits for itself, so it never starts".into() })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    const LINES: &str = "([0-9] [0-9] [0-9]{1,3} [0-9]( after( [0-9] of)?( [0-9]){0,3})?\n?){0,6}.{0,9}";

    proptest! {
        #[test]
        fn any_text_is_a_list_or_refused(text in LINES) {
            if let Ok(flows) = parse(&text, 4) {
                prop_assert!(flows.iter().all(|flow| flow.needed as usize <= flow.after.len() && flow.size > 0));
                prop_assert!(flows.iter().flat_map(|flow| &flow.after).all(|&before| before < flows.len()));
            }
        }
    }

    #[test]
    fn bad_lines_are_named() {
        let table = [
            ("0 1 5", "line 1: must be four whole numbers `source destination size start_ns`, not '0 1 5'"),
            ("# fine\n\n0 9 5 0", "line 3: host 9 does not exist: there are 4, counted from 0"),
            ("1 1 5 0", "line 1: host 1 cannot send to itself"),
            ("0 1 0 0", "line 1: a flow sends at least 1 byte or packet"),
            ("0 1 1 18446744073709551615", "line 1: the start is out of range"),
            (
                "0 1 1 0 after",
                "line 1: 'after' must be followed by flows, numbered from 0 by line, or `COUNT of FLOW ...`, not ''",
            ),
            ("0 1 1 0\n0 1 1 0 after 0 0", "line 2: a flow is named twice behind 'after'"),
            ("0 1 1 0\n0 1 1 0 after 2 of 0", "line 2: cannot wait for 2 of 1 flows"),
            ("0 1 1 0\n\n0 1 1 0 after 2", "line 3: flow 2 does not exist: the list has 2, counted from 0"),
            ("0 1 1 0 after 1\n1 2 1 0 after 0", "line 1: the flow waits for itself, so it never starts"),
        ];
        for (text, message) in table {
            assert_eq!(parse(text, 4).unwrap_err().to_string(), message);
        }
    }
}
