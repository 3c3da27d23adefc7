//! Scenarios that would exhaust memory are refused before they run, with a figure and the responsible field.

use hitless_core::settings::SettingsError;
use hitless_mechanisms::builtin;
use hitless_scenario::memory::{Execution, Limit, of_run, overloads};
use hitless_scenario::{Purpose, Scenario, check, check_for};

const GB: u64 = 1_000_000_000;

/// Two leaves of four hosts at 10 Gb/s, and flows.
fn fabric(core_rate: &str, flows: &str, more: &str) -> String {
    format!(
        "name = \"memory\"\nduration = \"10 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 4\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"{core_rate}\", delay = \"1 us\" }}\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"q\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 3\nsize = \"20 KB\"\n{flows}\n{more}"
    )
}

fn fat_tree(k: u32) -> String {
    format!(
        "name = \"tree\"\nduration = \"10 us\"\n[topology]\nkind = \"fat-tree\"\nk = {k}\n\
         host_link = {{ rate = \"100 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"100 Gbps\", delay = \"1 us\" }}\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\n[[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\n\
         sources = [\"h0\"]\ndestinations = [\"h9\"]\n"
    )
}

fn within(text: &str, bytes: u64, execution: Execution) -> Result<Scenario, SettingsError> {
    check_for(text, "memory.toml", Purpose::Simulation, builtin(), Some(Limit { bytes, execution }))
}

fn refusal(text: &str, limit_bytes: u64) -> Option<String> {
    within(text, limit_bytes, Execution::ALONE).err().map(|error| error.to_string())
}

fn bytes_of(text: &str) -> f64 {
    let scenario = check(text, "memory.toml", builtin()).unwrap_or_else(|error| panic!("{error}"));
    of_run(&scenario, &scenario.build_topology().expect("it was checked"), Execution::ALONE).bytes()
}

#[test]
fn what_killed_the_process_is_refused_with_a_figure_and_a_field() {
    let table = [
        (fabric("10 Gbps", "queries_per_second = 1e308", ""), "queries_per_second", "flows"),
        (fabric("1000000 Gbps", "load = 0.5\nload_of = \"leaf-spine-links\"", ""), "load", "flows"),
        (fat_tree(128), "topology", "links"),
        (
            fabric(
                "10 Gbps",
                "period = \"1 ms\"",
                "[[mechanism]]\nkind = \"afq\"\nsketch = { columns = 16777216, rows = 8 }",
            ),
            "mechanism",
            "tables",
        ),
        (fabric("10 Gbps", "period = \"1 ps\"", ""), "period", "flows"),
    ];
    for (text, field, what) in table {
        let message = refusal(&text, 3 * GB).unwrap_or_else(|| panic!("not refused:\n{text}"));
        assert!(message.contains(field) && message.contains(what), "{message}");
        assert!(message.contains("3.0 GB are the limit") && message.contains("make that smaller"), "{message}");
    }
}

#[test]
fn who_may_take_more_is_told_how_much_is_enough() {
    let message = refusal(&fat_tree(128), 3 * GB).expect("it is refused");
    let (_, asked) = message.split_once("--memory ").unwrap_or_else(|| panic!("{message}"));
    let enough_gb: u64 = asked.split_once("GB").expect("in gigabytes").0.parse().expect("a whole number");
    assert_eq!(refusal(&fat_tree(128), enough_gb * GB), None, "{message}");
    assert!(refusal(&fat_tree(128), (enough_gb - 1) * GB).is_some(), "{message}");
    let message = refusal(&fabric("10 Gbps", "queries_per_second = 1e308", ""), 3 * GB).expect("it is refused");
    assert!(!message.contains("--memory"), "nobody has that much: {message}");
}

/// With a single query in flight on links of 10^6 Gb/s nothing is large; a fat tree of 65,536 hosts fits, and one of
/// 4,194,304 hosts with one queue and a separate buffer per port.
#[test]
fn what_fits_is_not_refused() {
    assert_eq!(refusal(&fabric("1000000 Gbps", "period = \"1 ms\"\ncount = 1", ""), GB), None);
    assert_eq!(refusal(&fat_tree(64), GB), None);
    let plain = "[switch]\npreset = \"ideal\"\nbuffer = { kind = \"static\", per_port = \"300 KB\" }\n";
    assert_eq!(refusal(&(fat_tree(256) + plain), 24 * GB), None);
    for example in hitless_scenario::EXAMPLES {
        let text = hitless_scenario::example(example.name).expect("an example has a text");
        assert_eq!(refusal(text, 16 * GB), None, "{}", example.name);
    }
}

/// Each additional thread has separate tables of all links, if the run can be divided.
#[test]
fn threads_take_memory_and_one_may_do() {
    let text = fat_tree(32);
    let on = |threads| {
        let scenario = check(&text, "memory.toml", builtin()).unwrap_or_else(|error| panic!("{error}"));
        let topology = scenario.build_topology().expect("it was checked");
        of_run(&scenario, &topology, Execution { threads, ..Execution::ALONE }).bytes()
    };
    let further = on(2) - on(1);
    assert!(further > 24_576.0 * 300.0, "{further}");
    assert!((on(64) - on(1) - 63.0 * further).abs() < 1.0);
    let refused = |text: &str| {
        let threads = Execution { threads: 1_000, ..Execution::ALONE };
        within(text, GB, threads).err().map(|error| error.to_string())
    };
    let message = refused(&text).expect("a thousand threads take 8 GB");
    assert!(message.contains("on 999 further threads") && message.contains("--threads 1"), "{message}");
    assert_eq!(refused(&(text + "[measure]\norder = true\n")), None, "such a run is not divided");
}

#[test]
fn messages_that_there_is_no_time_for_take_no_memory() {
    let requests = |count: u64, gap: &str, stop: &str| {
        fat_tree(4).replace("kind = \"long\"", "kind = \"requests\"").replace("10 us", "100 ms")
            + &format!("size = \"25 KB\"\ncount = {count}\ngap = \"{gap}\"\n{stop}")
    };
    // 25 KB at 100 Gb/s and a gap take 10 us each: there is time for 10,000 of them.
    let fits = bytes_of(&requests(10_000, "8 us", ""));
    let is_about = |bytes: f64, expected: f64| (bytes - expected).abs() < 1e-3 * expected;
    assert!(is_about(bytes_of(&requests(1_000_000_000, "8 us", "")), fits));
    assert!(bytes_of(&requests(9_000, "8 us", "")) < fits);
    assert!(bytes_of(&requests(1_000_000_000, "8 us", "stop = \"50 ms\"")) < fits);
    // Without a gap only the line limits them.
    assert!(is_about(bytes_of(&requests(1_000_000_000, "0 us", "")), bytes_of(&requests(50_000, "0 us", ""))));
}

#[test]
fn load_beyond_what_the_links_of_hosts_carry_is_said() {
    let said = |text: &str| {
        let scenario = check(text, "memory.toml", builtin()).unwrap_or_else(|error| panic!("{error}"));
        overloads(&scenario, &scenario.build_topology().expect("it was checked"))
    };
    let beyond = said(&fabric("100 Gbps", "load = 0.5\nload_of = \"leaf-spine-links\"", ""));
    assert_eq!(beyond, ["q offers 200.0 Gb/s, and the links of all hosts carry 80.0 Gb/s"]);
    assert!(said(&fabric("10 Gbps", "load = 0.5\nload_of = \"host-links\"", "")).is_empty());
}

#[test]
fn an_estimate_grows_with_what_makes_it() {
    let few = bytes_of(&fabric("10 Gbps", "period = \"100 us\"", ""));
    let many = bytes_of(&fabric("10 Gbps", "period = \"100 ns\"", ""));
    // 300,000 flows instead of 300.
    assert!((300e6..2e9).contains(&(many - few)), "{few} and {many}");
    let watched = bytes_of(&fabric("10 Gbps", "period = \"100 ns\"", "[measure]\norder = true"));
    assert!(watched > many);
}

#[test]
fn each_open_spraying_connection_has_a_penalty_for_each_path_and_a_window_of_packets() {
    let spraying = |settings: &str| {
        let text = fabric("10 Gbps", "period = \"100 us\"", "");
        bytes_of(&text.replace("kind = \"tcp\"", &format!("kind = \"uet\"\n{settings}")))
    };
    let usual = spraying("base_rtt = \"10 us\"\npaths = 64");
    // 100 queries of 3 answers. 4,096 paths were measured at 3.9 KB a connection.
    let more_paths = spraying("base_rtt = \"10 us\"\npaths = 4096") - usual;
    assert_eq!(more_paths.round() as u64, 300 * (4_096 - 64));
    // A window of 1.5 x 10 Gb/s x 100 us is 45 packets, and for 10 us 4 packets.
    let more_window = spraying("base_rtt = \"100 us\"\npaths = 64") - usual;
    assert_eq!(more_window.round() as u64, 300 * 80 * (45 - 4));
}

#[test]
fn a_run_that_hands_its_rows_over_may_have_many_more_flows() {
    let text = fabric("10 Gbps", "period = \"100 ns\"", "");
    let scenario = check(&text, "memory.toml", builtin()).unwrap_or_else(|error| panic!("{error}"));
    let topology = scenario.build_topology().expect("it was checked");
    let [kept, handed_over] = [true, false]
        .map(|keeps_rows| of_run(&scenario, &topology, Execution { keeps_rows, ..Execution::ALONE }).bytes());
    assert!(kept - handed_over > 300_000.0 * 1_000.0, "{kept} and {handed_over}");
    let checked = |keeps_rows| within(&text, (handed_over + 1e6) as u64, Execution { keeps_rows, ..Execution::ALONE });
    assert!(checked(false).is_ok());
    let refused = checked(true).expect_err("its rows do not fit").to_string();
    assert!(refused.contains("of memory"), "{refused}");
}

/// Autopsies keep 65,536 departures of 32 B, or eight for each packet in flight if these are more.
#[test]
fn autopsies_take_memory_for_each_packet_in_flight() {
    let of_buffer = |buffer_mb: u64| {
        let switch = format!("[switch]\nbuffer = {{ kind = \"shared\", total = \"{buffer_mb} MB\", alpha = 1.0 }}\n");
        let text = fat_tree(4) + &switch + "[measure]\nautopsy = true\n";
        let scenario = check(&text, "memory.toml", builtin()).unwrap_or_else(|error| panic!("{error}"));
        let parts = of_run(&scenario, &scenario.build_topology().expect("it was checked"), Execution::ALONE).parts;
        let part = |field: &str| parts.iter().find(|part| part.field == field).expect("a part").bytes;
        (part("switch.buffer") / 300.0, part("measure.autopsy"))
    };
    for buffer_mb in [1, 100] {
        let (packets, autopsy) = of_buffer(buffer_mb);
        let departures = if buffer_mb == 1 { 65_536.0 } else { 8.0 * packets };
        assert_eq!(packets > 8_192.0, buffer_mb == 100, "{packets} packets");
        assert_eq!(autopsy.round(), (916.0 + 128.0 * packets + 32.0 * departures).round(), "{buffer_mb} MB");
    }
}

/// Prints the estimates of docs/evidence/reliability.md for the files in the folder HITLESS_SCENARIOS, in MB.
#[test]
#[ignore = "prints a table of scenarios that are given"]
fn estimates_of_a_folder() {
    let folder = std::env::var("HITLESS_SCENARIOS").expect("HITLESS_SCENARIOS names a folder");
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("a file that can be read");
        let Ok(scenario) = check(&text, &path.to_string_lossy(), builtin()) else { continue };
        let estimate = of_run(&scenario, &scenario.build_topology().expect("it was checked"), Execution::ALONE);
        println!("{} {:.1} {:?}", path.display(), estimate.bytes() / 1e6, estimate.parts.first());
    }
}
