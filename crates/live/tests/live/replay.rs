//! A live run and its recording, replayed in simulation: each decision is the same.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use hitless_live::fabric::LiveSettings;
use hitless_live::recording::{Header, RecorderOptions, replay};
use hitless_live::{Options, Recorder, Replay, Status};

use super::lab::{Lab, frame, graph, scenario_of, star, station};

/// A file in memory.
#[derive(Clone, Default)]
pub struct Disk(Arc<Mutex<Vec<u8>>>);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with the lock").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Disk {
    pub fn content(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panics with the lock").clone()
    }
}

/// A lab with a recorded run.
pub fn recorded(text: &str, points: &[&str], options: RecorderOptions) -> (Lab, Disk) {
    let names = points.iter().map(|&name| name.to_owned()).collect();
    let settings = LiveSettings { frames: 256, ..LiveSettings::new(names) };
    let header = Header::new(scenario_of(text).effective_toml(), &settings);
    let disk = Disk::default();
    let recorder = Recorder::new(disk.clone(), &header, options).expect("memory takes a header");
    let mut lab = Lab::of(text, points);
    lab.driver().fabric().watch(Box::new(recorder));
    (lab, disk)
}

pub fn replayed(disk: &Disk) -> Replay {
    let found =
        replay(disk.content().as_slice(), hitless_mechanisms::builtin()).unwrap_or_else(|error| panic!("{error}"));
    assert!(found.divergence.is_none(), "{}", found.divergence.expect("there is one"));
    assert_eq!((found.outcome.violations.as_slice(), found.is_complete), (&[] as &[String], true));
    found
}

/// Sends frames at irregular times, sometimes several per turn.
fn traffic(lab: &mut Lab, frames: usize) {
    let hosts = lab.hosts();
    for number in 0..frames {
        let from = number * 7 % hosts;
        let to = (from + 1 + number % (hosts - 1)) % hosts;
        lab.send(from, &frame(station(from as u8), station(to as u8), 60 + number * 131 % 1_400));
        if number % 3 != 0 {
            lab.turn();
            lab.stall(500 + (number as u64 * 7_919) % 40_000);
        }
    }
    lab.run_for(3_000_000);
}

/// h0, h1 - sw0 - sw1 - h2, h3, and a second path through sw2.
fn triangle(mechanism: &str) -> String {
    let ends =
        [("h0", "sw0"), ("h1", "sw0"), ("h2", "sw1"), ("h3", "sw1"), ("sw0", "sw1"), ("sw0", "sw2"), ("sw2", "sw1")];
    graph("triangle", &["sw0", "sw1", "sw2"], &ends) + mechanism
}

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "h3"];

pub fn counter(status: &Status, mechanism: &str, counter: &str) -> u64 {
    let rows = status.mechanisms.iter().filter(|row| row.1 == mechanism && row.3 == counter);
    rows.map(|row| row.5).sum()
}

#[test]
fn plain_forwarding_is_replayed_and_its_results_are_the_same() {
    let (mut lab, disk) = recorded(&star(&["h0", "h1", "h2"]), &["h0", "h1", "h2"], RecorderOptions::default());
    traffic(&mut lab, 300);
    assert_eq!(lab.command("fail sw->h1"), Ok(()));
    traffic(&mut lab, 50);
    let (status, outcome) = lab.finish_with_results();
    let found = replayed(&disk);
    assert_eq!((found.arrivals, found.commands), (350, 1));
    assert!(found.equal > 700 && status.drops["lost on a link that was down"] > 5, "{found:?}");
    assert_eq!(found.outcome.summary.trace_hash, outcome.summary.trace_hash);
    assert_eq!(found.outcome.tables, outcome.tables);
}

#[test]
fn linkguardian_decides_the_same_under_both_clocks() {
    let mechanism = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw0->sw1\"\nactual_loss_rate = 0.1\n";
    let (mut lab, disk) = recorded(&triangle(mechanism), &HOSTS, RecorderOptions::default());
    assert_eq!(lab.command("corrupt sw0->sw1 0.1"), Ok(()));
    traffic(&mut lab, 400);
    assert_eq!(lab.command("unprotect sw0->sw1"), Ok(()));
    traffic(&mut lab, 50);
    let (status, _) = lab.finish_with_results();
    assert!(counter(&status, "linkguardian", "packets_recovered") > 5, "{:?}", status.mechanisms);
    assert!(replayed(&disk).equal > 1_000);
}

#[test]
fn sqr_decides_the_same_under_both_clocks() {
    let mechanism = "[recovery]\ndetection = { kind = \"fixed\", delay = \"30 us\" }\n\
                     scheme = { kind = \"local-reroute\", reconfiguration = \"200 us\" }\n\
                     [[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw0->sw1\"]\nclasses = [0]\n";
    let (mut lab, disk) = recorded(&triangle(mechanism), &HOSTS, RecorderOptions::default());
    traffic(&mut lab, 100);
    assert_eq!(lab.command("fail sw0<->sw1"), Ok(()));
    traffic(&mut lab, 200);
    assert_eq!(lab.command("repair sw0<->sw1"), Ok(()));
    traffic(&mut lab, 100);
    let (status, _) = lab.finish_with_results();
    let detour = status.links.iter().find(|link| link.link == "sw0->sw2").expect("it is there");
    assert!(detour.frames_arrived > 30, "{detour:?}");
    assert!(replayed(&disk).equal > 1_000);
}

#[test]
fn a_recording_of_headers_is_enough() {
    let options = RecorderOptions { kept_bytes: 64, ..RecorderOptions::default() };
    let (mut lab, disk) = recorded(&star(&["h0", "h1"]), &["h0", "h1"], options);
    traffic(&mut lab, 200);
    lab.finish();
    let found = replayed(&disk);
    let recorded_bytes = disk.content().len() as u64;
    let frame_bytes = found.outcome.tables.iter().find(|table| table.name == "links").map(|_| 200 * 750);
    assert!(recorded_bytes < frame_bytes.expect("there are links"), "{recorded_bytes}");
}

#[test]
fn a_difference_is_found_and_shown() {
    let (mut lab, disk) = recorded(&star(&["h0", "h1"]), &["h0", "h1"], RecorderOptions::default());
    traffic(&mut lab, 20);
    lab.finish();
    let mut content = disk.content();
    // Change the delay of a link in the header.
    let delay = content.windows(4).position(|window| window == b"1 us").expect("the scenario is in the header");
    content[delay] = b'2';
    let found = replay(content.as_slice(), hitless_mechanisms::builtin()).unwrap_or_else(|error| panic!("{error}"));
    let shown = found.divergence.expect("packets arrive later").to_string();
    assert!(shown.contains("live:     ") && shown.contains("replayed: ") && shown.contains("transmit"), "{shown}");
}

#[test]
fn what_a_crash_has_left_can_be_replayed() {
    let (mut lab, disk) = recorded(&star(&["h0", "h1"]), &["h0", "h1"], RecorderOptions::default());
    traffic(&mut lab, 50);
    lab.finish();
    let content = disk.content();
    for cut in [content.len() - 1, content.len() * 3 / 4, content.len() - 20] {
        let found = replay(&content[..cut], hitless_mechanisms::builtin()).unwrap_or_else(|error| panic!("{error}"));
        assert!(!found.is_complete && found.divergence.is_none() && found.equal > 0, "{cut}: {:?}", found.divergence);
    }
    for content in [&b""[..], b"hitless recording 2\n", &content[..30]] {
        assert!(replay(content, hitless_mechanisms::builtin()).is_err());
    }
}

#[test]
fn a_disk_that_does_not_keep_up_cuts_the_recording_and_not_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            // The header still fits.
            if bytes.starts_with(b"hitless") { Ok(bytes.len()) } else { Err(io::Error::other("no space left")) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let text = star(&["h0", "h1"]);
    let settings = LiveSettings::new(vec!["h0".into(), "h1".into()]);
    let header = Header::new(scenario_of(&text).effective_toml(), &settings);
    let recorder = Recorder::new(Full, &header, RecorderOptions::default()).expect("the header fits");
    let state = recorder.state();
    let mut lab = Lab::new(&["h0", "h1"], Options::default());
    lab.driver().fabric().watch(Box::new(recorder));
    traffic(&mut lab, 20);
    let status = lab.finish();
    assert_eq!(status.frames_entered, 20);
    let cut = state.lock().expect("nobody panics with the lock").cut.clone();
    assert_eq!(cut, Some("the recording could not be written: no space left".into()));
}
