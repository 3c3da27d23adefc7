//! Entries in P4Runtime's text format in a scenario: the run equals one with the same entries as commands; and refused
//! entries.

use std::path::{Path, PathBuf};

use hitless_core::wire::{Duration, PortId, Time};
use hitless_mechanisms::builtin;

use super::beside::{Arrival, FABRIC, Happening, both};

const SWITCH: &str = "[switch]\npreset = \"ideal\"\nbuffer = { kind = \"static\", per_port = \"200 KB\" }\n";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/afq").join(name)
}

fn afq(entries: &[(&str, &Path)]) -> String {
    let entries = entries.iter().map(|(name, path)| format!("{name} = {:?}\n", path.display().to_string()));
    format!(
        "{SWITCH}[[mechanism]]\nkind = \"p4\"\nswitches = [\"leaf0\"]\nprogram = {:?}\n{}\
         [[mechanism.rounds]]\nports = [\"leaf0->h0\"]\nqueues = 32\n",
        file("afq.json").display().to_string(),
        entries.collect::<String>()
    )
}

#[test]
fn entries_of_p4runtime_give_the_same_run_as_commands() {
    let packet = |number: u64| {
        let flow = (number * 7 % 10) as u32;
        let port = PortId(1 + (number % 3) as u16);
        let (to, class) = ((number % 5 / 4) as u32, (flow % 2) as u8);
        let arrival = Arrival { port, flow, to, class, is_capable: true, bytes: 300 + 100 * flow, mark: None };
        (Time::ZERO + Duration::from_ps(200_000) * number, Happening::Packet(arrival))
    };
    let schedule: Vec<_> = (0..2_000).map(packet).collect();
    let commands = afq(&[("commands", &file("commands.txt"))]);
    let runtime = afq(&[("p4info", &file("afq.p4info.txtpb")), ("p4runtime", &file("entries.txtpb"))]);
    let none = afq(&[]);
    let [one, other] = both([commands.clone(), runtime], &schedule);
    assert_eq!(one.difference(&other), None);
    assert!(!one.left.iter().map(|(.., packet)| packet.frame).is_sorted(), "nothing was reordered");
    let [one, other] = both([commands, none], &schedule);
    assert!(one.difference(&other).is_some(), "entries change nothing");
}

#[test]
fn entries_that_cannot_be_are_told_with_file_and_line() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = std::fs::read_to_string(file("entries.txtpb")).expect("the file is there");
    let wrong = folder.join("afq-wrong-entries.txtpb");
    std::fs::write(&wrong, text.replacen("prefix_len: 32", "prefix_len: 31", 1)).expect("the folder takes a file");
    let info = file("afq.p4info.txtpb");
    let cases = [
        (vec![("p4runtime", file("entries.txtpb"))], "mechanism[0].p4info", "says what the numbers of p4runtime mean"),
        (vec![("p4info", info.clone())], "mechanism[0].p4runtime", "whose numbers p4info explains, and is not given"),
        (
            vec![("p4info", info.clone()), ("p4runtime", wrong)],
            "mechanism[0].p4runtime",
            "afq-wrong-entries.txtpb:11: table ingress.routes: the field headers.ipv4.destination has the value \
             0x0a000001 with ones behind its prefix of 31 bits",
        ),
        (
            vec![("p4info", file("commands.txt")), ("p4runtime", file("entries.txtpb"))],
            "mechanism[0].p4info",
            "commands.txt:3: the field table_add has no value",
        ),
        (vec![("p4info", folder.join("none")), ("p4runtime", info)], "mechanism[0].p4info", "cannot be read"),
    ];
    for (files, field, rule) in cases {
        let files: Vec<_> = files.iter().map(|(name, path)| (*name, path.as_path())).collect();
        let text = format!("{FABRIC}{}", afq(&files));
        let error = hitless_scenario::check(&text, "entries", builtin()).expect_err(rule).to_string();
        let shown = error.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(field) && shown.contains(rule), "{error}\nis not\n{field}: {rule}");
    }
}
