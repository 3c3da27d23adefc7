//! Names of hosts and switches are labels only: no result depends on them.

use hitless_simulation::Outcome;
use hitless_simulation::results::Column;

use crate::support::run;

/// Four leaves of two hosts, and two spines. The second set of names has a different alphabetical order.
const NAMES: [[&str; 2]; 14] = [
    ["h0", "zeta"],
    ["h1", "atlas"],
    ["h2", "mars"],
    ["h3", "h9"],
    ["h4", "h0"],
    ["h5", "omega"],
    ["h6", "kilo"],
    ["h7", "beta"],
    ["leaf0", "north"],
    ["leaf1", "east"],
    ["leaf2", "west"],
    ["leaf3", "a-south"],
    ["spine0", "upper"],
    ["spine1", "lower"],
];

/// Queries of all hosts to the first; `set` selects the names.
fn text(set: usize, more: &str, switch: &str) -> String {
    let congestion = if switch.contains("ecn") { "dctcp" } else { "newreno" };
    let name = |number: usize| NAMES[number][set];
    let list = |numbers: std::ops::Range<usize>| {
        numbers.map(|number| format!("\"{}\"", name(number))).collect::<Vec<_>>().join(", ")
    };
    let link = |ends: (usize, usize)| {
        format!("  {{ ends = [\"{}\", \"{}\"], rate = \"10 Gbps\", delay = \"1 us\" }},\n", name(ends.0), name(ends.1))
    };
    let of_hosts = (0..8).map(|host| (host, 8 + host / 2));
    let of_spines = (8..12).flat_map(|leaf| [(leaf, 12), (leaf, 13)]);
    let links: String = of_hosts.chain(of_spines).map(link).collect();
    format!(
        "name = \"renaming\"\nduration = \"20 ms\"\nmore = 0\n\
         [topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [{}]\nlinks = [\n{links}]\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"30 KB\" }}\n{switch}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"{congestion}\"\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"incast\"\nfan_in = 5\nsize = \"30 KB\"\n\
         period = \"500 us\"\ncount = 20\nclients = [\"{}\"]\nservers = [{}]\n",
        list(0..8),
        list(8..14),
        name(0),
        list(1..8),
    )
    .replace("more = 0\n", more)
}

/// All values of all tables except texts, which contain names.
fn values(outcome: &Outcome) -> Vec<String> {
    let columns = outcome.tables.iter().flat_map(|table| &table.columns);
    let values = columns.filter(|(_, column)| !matches!(column, Column::Text(_)));
    values.map(|(name, column)| format!("{name} {column:?}")).collect()
}

#[test]
fn other_names_of_hosts_and_switches_change_no_result() {
    /// Non-ideal clocks are drawn by link name.
    const IDEAL: &str = "clocks = \"ideal\"\n";
    const CHECKED: &str = "checked = true\ndepth_visible = \"ingress-and-egress\"\n";
    const TWO_CHOICES: &str = "[routing]\nchoice = \"two-choices\"\n";
    const MARKS: &str = "[host]\npriority_tagger = { by = \"remaining-bytes\" }\n";
    let vertigo = format!("{CHECKED}{TWO_CHOICES}{MARKS}[[mechanism]]\nkind = \"vertigo\"\n");
    let ramp = "ecn = { threshold = \"5 KB\", maximum = \"25 KB\", probability = 0.5 }\n";
    for switch in [
        &format!("{CHECKED}{TWO_CHOICES}"),
        &vertigo,
        &format!("{CHECKED}[[mechanism]]\nkind = \"dibs\"\n"),
        ramp,
        "flow_queueing = { kind = \"sfq\", queues = 4 }\n",
        "flow_queueing = { kind = \"fq-codel\", flows = 4 }\n",
    ] {
        let [one, other] = [0, 1].map(|set| run(&text(set, IDEAL, switch)));
        assert_eq!(values(&one), values(&other), "{switch}");
        assert_eq!(one.summary.trace_hash, other.summary.trace_hash, "{switch}");
        assert_ne!(
            one.summary.trace_hash,
            run(&text(0, &format!("{IDEAL}seed = 2\n"), switch)).summary.trace_hash,
            "{switch}"
        );
    }
}
