//! P4 programs between real nodes: the fates of frames are the same as with the mechanism in Rust.

use std::fmt::Write;
use std::path::Path;

use hitless_live::recording::{RecorderOptions, replay_with};

use super::deflected::leaf_spine;
use super::lab::{frame, scenario_of, station};
use super::replay::{Disk, recorded, replayed};

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "slow"];
/// Two queues, since with a single queue a program sees the depth without the frame in transmission.
const TWO_QUEUES: &str = "scheduler = \"strict\"\nqueues_per_port = 2\n";

/// The entry of a program on leaf1; its port 0 leads to slow, and ports 1 and 2 lead to the spines.
fn program(name: &str, commands: &str, more: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4").join(name);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("live-{name}.txt"));
    std::fs::write(&file, commands).expect("the folder for tests takes a file");
    let program = folder.join(format!("{name}.json"));
    format!(
        "[[mechanism]]\nkind = \"p4\"\nswitches = [\"leaf1\"]\nprogram = {:?}\ncommands = {:?}\n{more}",
        program.display().to_string(),
        file.display().to_string()
    )
}

fn fabric(mechanism: &str, switch: &str) -> String {
    let text = leaf_spine("20 KB", "20 KB", mechanism);
    text.replace("[switch]\n", &format!("[switch]\n{switch}"))
}

/// Three hosts send bursts that exceed the capacity of slow's link.
fn run(text: &str) -> Disk {
    let (mut lab, disk) = recorded(text, &HOSTS, RecorderOptions::default());
    // Each station sends first, so that the bridge knows it and floods nothing.
    for number in 0..HOSTS.len() {
        lab.send(number, &frame(station(number as u8), station((number as u8 + 1) % 4), 60));
        lab.turn();
        lab.stall(100_000);
    }
    for number in 0..600usize {
        let length = 60 + number * 131 % 1_400;
        lab.send(number % 3, &frame(station((number % 3) as u8), station(3), length));
        if number % 4 == 3 {
            lab.turn();
            lab.stall(20_000 + (number as u64 * 7_919) % 150_000);
        }
    }
    lab.run_for(50_000_000);
    let _ = lab.finish_with_results();
    disk
}

/// The frames of the program's run have the same fates with the mechanism in Rust, and different ones without it.
fn compare(program: &str, rust: &str, switch: &str) {
    let disk = run(&fabric(program, switch));
    let arrivals = replayed(&disk).arrivals;
    // The pool had no place for the other frames.
    assert!(arrivals > 500, "{arrivals}");
    let with = |mechanism: &str| {
        let text = scenario_of(&fabric(mechanism, switch)).effective_toml();
        replay_with(disk.content().as_slice(), &text, hitless_mechanisms::builtin()).expect("a recording is played")
    };
    let same = with(rust);
    assert_eq!(same.divergence, None, "{}", same.divergence.as_ref().expect("there is one"));
    assert!(same.equal >= arrivals, "{}", same.equal);
    assert_ne!(with("").divergence, None, "the mechanism did nothing");
}

#[test]
fn afq_as_a_program_gives_frames_the_same_fates() {
    let mut commands = String::from("table_add ingress.fair_ports ingress.queue_fairly 0 => 0 1518 255 0xffffff\n");
    for round in 0..8 {
        let (first, last) = (round * 1_518, (round + 1) * 1_518 - 1);
        writeln!(commands, "table_add ingress.rounds_ahead ingress.set_rounds {first}->{last} => {round} 1")
            .expect("a string takes text");
    }
    let p4 = program("afq", &commands, "[[mechanism.rounds]]\nports = [\"leaf1->slow\"]\nqueues = 8\n");
    let rust = "[[mechanism]]\nkind = \"afq\"\nports = [\"leaf1->slow\"]\nqueues = 8\nbytes_per_round = \"1518 B\"\n\
                sketch = { rows = 2, hash = \"checksums\" }\n";
    compare(&p4, rust, "");
    // All frames are of the only class that is fair queued.
    compare(&p4, &format!("{rust}classes = [0]\nport_buffer = \"20 KB\"\n"), TWO_QUEUES);
}

#[test]
fn simple_deflection_as_a_program_gives_frames_the_same_fates() {
    let commands = "table_add ingress.relieved ingress.relieve 0 =>\n\
                    table_set_default ingress.towards_switches ingress.set_switches 0x6 2\n\
                    table_add ingress.circle ingress.start_at 0 => 1\n\
                    table_add ingress.circle ingress.start_at 1 => 2\n";
    let p4 = program("simple-deflection", commands, "random_stream = \"simple deflection\"\n");
    let rust = "[[mechanism]]\nkind = \"simple-deflection\"\nports = [\"leaf1->slow\"]\nto_arrival_port = true\n";
    compare(&p4, rust, TWO_QUEUES);
}

#[test]
fn preemptive_deflection_as_a_program_gives_frames_the_same_fates() {
    let commands = "table_add ingress.relieved ingress.relieve 0 =>\n\
                    table_set_default ingress.draw.towards_switches ingress.draw.set_switches 0x6\n\
                    table_set_default ingress.settings ingress.set_test 10000 1000\n";
    let p4 = program("preemptive-deflection", commands, "random_stream = \"preemptive deflection\"\n");
    let rust = "[[mechanism]]\nkind = \"preemptive-deflection\"\nports = [\"leaf1->slow\"]\nalpha = 1.0\n";
    compare(&p4, rust, TWO_QUEUES);
}
