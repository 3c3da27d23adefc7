//! Captures of live runs: the bytes of real frames, at the places of the fabric.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use hitless_live::Status;
use hitless_live::fabric::CAPTURE_CHUNKS;
use hitless_simulation::Outcome;

use super::deflected::datagram;
use super::lab::{Apart, Lab, frame, graph, star, station};
use super::pcapng::{Captured, File, read};
use super::replay::Disk;

/// All packets of every place.
pub const EVERYWHERE: &str =
    "[[measure.capture]]\nhosts = [\"*\"]\nlinks = [\"*\"]\nports = [\"*\"]\nswitches = [\"*\"]\n";
const HOSTS: [&str; 2] = ["h0", "h1"];

fn capture(settings: &str) -> String {
    format!("[[measure.capture]]\n{settings}\n")
}

/// Ends a run, and reads its captures.
fn files(lab: Lab) -> (Vec<File>, Status, Outcome) {
    let (status, outcome) = lab.finish_with_results();
    (outcome.captures.iter().map(|capture| read(&capture.bytes)).collect(), status, outcome)
}

/// Sends datagrams from h0 to h1, one in 20 us.
fn talk(lab: &mut Lab, count: u32) -> Vec<Vec<u8>> {
    let sent: Vec<_> = (0..count).map(|number| datagram(0, 1, 8, number, number % 2 == 1)).collect();
    for bytes in &sent {
        lab.send(0, bytes);
        lab.run_for(20_000);
    }
    lab.run_for(100_000);
    sent
}

fn data(packets: &[&Captured]) -> Vec<Vec<u8>> {
    packets.iter().map(|packet| packet.data.clone()).collect()
}

#[test]
fn frames_have_their_own_bytes_and_the_time_of_each_place() {
    let text = star(&HOSTS) + &capture("hosts = [\"*\"]\nlinks = [\"sw<->h1\"]\nports = [\"sw->h1\"]\npayload = true");
    let mut lab = Lab::of(&text, &HOSTS);
    lab.know_stations();
    let sent = talk(&mut lab, 5);
    let answers = [frame(station(1), station(0), 42)];
    lab.send(1, &answers[0]);
    lab.run_for(100_000);
    let (files, _, _) = files(lab);
    let [file] = &files[..] else { panic!("one file") };
    assert_eq!(file.interfaces, ["h0", "h1", "h1->sw", "sw->h1", "sw->h1 port"]);
    let seen = |place: &str, of: &[Vec<u8>]| {
        let all = data(&file.at(place)).into_iter();
        all.filter(|bytes| of.contains(bytes)).collect::<Vec<_>>()
    };
    for place in ["h0", "sw->h1 port", "sw->h1", "h1"] {
        assert_eq!(seen(place, &sent), sent, "{place}");
    }
    for place in ["h1", "h1->sw", "h0"] {
        assert_eq!(seen(place, &answers), answers, "{place}");
    }
    // A datagram leaves the port, and the answer h1, before it arrives: by 1 us of the link and 280 ns of its PHYs.
    let crossing_ns = 1_280;
    let times = |place: &str| file.at(place).iter().map(|packet| packet.at_ns).collect::<Vec<_>>();
    let later = |times: Vec<u64>| times.iter().map(|at| at + crossing_ns).collect::<Vec<_>>();
    assert_eq!(later(times("sw->h1 port")), times("sw->h1"));
    let (leaves, arrives) = (file.at("h1").last().expect("the answer").at_ns, times("h1->sw"));
    assert_eq!(Some(&(leaves + crossing_ns)), arrives.last());
    // A frame has one identity at all places.
    let identity = |place: &str| file.at(place).iter().map(|packet| packet.identity).collect::<Vec<_>>();
    assert_eq!(identity("sw->h1 port"), identity("sw->h1"));
}

#[test]
fn filters_and_payloads_have_the_meaning_of_simulated_captures() {
    let filters =
        ["protocols = [\"udp\"]", "protocols = [\"tcp\"]", "classes = [1]", "dropped_only = true", "limit = 3"];
    let named =
        |(number, filter): (usize, &&str)| capture(&format!("name = \"c{number}\"\nlinks = [\"sw->h1\"]\n{filter}"));
    let text = star(&HOSTS) + &filters.iter().enumerate().map(named).collect::<String>();
    let mut lab = Lab::of(&text, &HOSTS);
    lab.know_stations();
    let sent = talk(&mut lab, 4);
    lab.send(0, &frame(station(0), station(1), 500));
    lab.run_for(100_000);
    let (files, _, outcome) = files(lab);
    let counts: Vec<_> = files.iter().map(|file| file.packets.len()).collect();
    assert_eq!(counts, [4, 0, 4, 0, 3]);
    // Without payload a datagram ends after its UDP header: 14 B of Ethernet, 20 or 40 B of IP, 8 B of UDP.
    for (number, packet) in files[0].packets.iter().enumerate() {
        let header_bytes = if number % 2 == 1 { 62 } else { 42 };
        assert_eq!((&packet.data[..], packet.length), (&sent[number][..header_bytes], sent[number].len()));
    }
    let [(accepted, 3)] = files[4].statistics[..] else { panic!("{:?}", files[4].statistics) };
    let warning =
        format!("the capture c4 has the first 3 of {accepted} packets: narrow its filter, or raise its limit");
    assert!(accepted >= 5 && outcome.summary.warnings.contains(&warning), "{:?}", outcome.summary.warnings);
}

/// h0 - sw0 - sw1 - h1, with LinkGuardian.
fn guarded() -> String {
    graph("chain", &["sw0", "sw1"], &[("h0", "sw0"), ("sw0", "sw1"), ("h1", "sw1")])
        + "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw0->sw1\"\nactual_loss_rate = 0.1\n"
}

#[test]
fn a_protected_link_shows_headers_losses_and_repetitions() {
    let text = guarded() + &capture("links = [\"sw0<->sw1\"]\npayload = true");
    let mut lab = Lab::of(&text, &HOSTS);
    lab.know_stations();
    assert_eq!(lab.command("corrupt sw0->sw1 0.1"), Ok(()));
    let sent = talk(&mut lab, 200);
    let (files, status, _) = files(lab);
    let corrupted = status.links.iter().find(|link| link.link == "sw0->sw1").expect("it is there").frames_corrupted;
    assert!(corrupted > 5 && files[0].count("corrupted on the link") >= corrupted, "{corrupted}");
    let on_link = files[0].at("sw0->sw1");
    for bytes in &sent {
        let copies: Vec<_> = on_link.iter().filter(|packet| packet.data.ends_with(bytes)).collect();
        assert!(copies.iter().any(|packet| packet.comment.is_empty()), "each datagram arrives");
        assert!(copies.iter().all(|packet| packet.data[12..14] == [0x88, 0xb5] && packet.data.len() > bytes.len()));
        let is_lost = copies.iter().any(|packet| !packet.comment.is_empty());
        assert!(!is_lost || copies.len() > 1, "a lost datagram comes again");
    }
}

#[test]
fn drops_have_their_reason() {
    let text = star(&HOSTS).replace("[\"h1\", \"sw\"], rate = \"1 Gbps\"", "[\"h1\", \"sw\"], rate = \"100 Mbps\"")
        + "[switch.buffer]\nkind = \"static\"\nper_port = \"3 KB\"\n[host]\nnic_queue = \"4 packets\"\n"
        + &capture("hosts = [\"h0\"]\nports = [\"sw->h1\"]\nswitches = [\"sw\"]\ndropped_only = true");
    let mut lab = Lab::of(&text, &HOSTS);
    lab.know_stations();
    for _ in 0..20 {
        (0..10).for_each(|number| lab.send(0, &datagram(0, 1, 0, number, false)));
        lab.run_for(30_000);
    }
    lab.run_for(1_000_000);
    let (files, status, _) = files(lab);
    let file = &files[0];
    let by_queue = status.drops.iter().filter(|(reason, _)| reason.contains("full")).collect::<Vec<_>>();
    let card = status.drops.iter().find(|(reason, _)| reason.contains("card")).map_or(0, |(_, &count)| count);
    assert!(card > 10 && file.at("h0").len() as u64 == card, "{by_queue:?}");
    assert!(
        file.at("h0").iter().all(|packet| packet.comment == "dropped: network card full"),
        "{:?}",
        file.at("h0")[0]
    );
    let queue: u64 = status.drops.iter().filter(|(reason, _)| !reason.contains("card")).map(|(_, &count)| count).sum();
    assert!(queue > 10, "{:?}", status.drops);
    for place in ["sw->h1 port", "sw"] {
        let drops = file.at(place);
        assert_eq!(drops.len() as u64, queue, "{place}");
        assert!(drops.iter().all(|packet| packet.comment.starts_with("dropped: ") && packet.comment.contains("full")));
        assert!(drops.iter().all(|packet| packet.data == datagram(0, 1, 0, 0, false)[..42]));
    }
}

#[test]
fn captures_change_nothing_in_a_run() {
    let run = |more: &str| {
        let mut lab = Lab::of(&(guarded() + more), &HOSTS);
        lab.know_stations();
        assert_eq!(lab.command("corrupt sw0->sw1 0.1"), Ok(()));
        talk(&mut lab, 100);
        assert_eq!(lab.command("fail sw0<->sw1"), Ok(()));
        talk(&mut lab, 5);
        lab.finish_with_results().1
    };
    let (without, with) = (run(""), run(EVERYWHERE));
    assert_eq!(with.summary.trace_hash, without.summary.trace_hash);
    assert_eq!(with.tables, without.tables);
    assert!(with.captures[0].counts.packets > 500 && without.captures.is_empty());
    assert!(read(&with.captures[0].bytes).count("lost: the link was down") > 4);
}

#[test]
fn files_grow_during_the_run_and_have_the_same_packets() {
    let run = |disk: Option<Disk>| {
        let mut lab = Lab::of(&(guarded() + EVERYWHERE), &HOSTS);
        if let Some(disk) = disk {
            let open = move |name: &str| {
                assert_eq!(name, "packets");
                Ok(Box::new(disk.clone()) as Box<dyn Write>)
            };
            lab.driver().fabric().write_captures(Arc::new(open), CAPTURE_CHUNKS);
        }
        lab.know_stations();
        talk(&mut lab, 100);
        lab.finish_with_results()
    };
    let disk = Disk::default();
    let (status, written) = run(Some(disk.clone()));
    let (_, kept) = run(None);
    assert!(written.captures.is_empty() && status.warnings.is_empty(), "{:?}", status.warnings);
    assert!(disk.content() == kept.captures[0].bytes);
    assert_eq!(read(&disk.content()).packets.len() as u64, kept.captures[0].counts.packets);
}

/// A disk that stands still until it is told to go on.
#[derive(Clone, Default)]
struct Stuck(Arc<Mutex<()>>, Disk);

impl Write for Stuck {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.1.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn packets_beyond_a_slow_disk_are_counted_and_told() {
    let text = star(&HOSTS) + &capture("links = [\"*\"]\npayload = true");
    let mut lab = Lab::of(&text, &HOSTS);
    let disk = Stuck::default();
    let (gate, opened) = (Arc::clone(&disk.0), disk.clone());
    let held = gate.lock().expect("nobody panics with the lock");
    lab.driver().fabric().write_captures(Arc::new(move |_: &str| Ok(Box::new(opened.clone()) as Box<dyn Write>)), 1);
    lab.know_stations();
    talk(&mut lab, 3_000);
    let warnings = lab.status().warnings;
    assert!(warnings.iter().any(|warning| warning.starts_with("the capture packets lacks ")), "{warnings:?}");
    drop(held);
    let (status, outcome) = lab.finish_with_results();
    let file = read(&disk.1.content());
    let [accepted, kept] = [|pair: &(u64, u64)| pair.0, |pair: &(u64, u64)| pair.1]
        .map(|part| file.statistics.iter().map(part).sum::<u64>());
    assert!(kept > 100 && kept < accepted && file.packets.len() as u64 == kept, "{kept} of {accepted}");
    let missed = accepted - kept;
    let warning = format!("the capture packets lacks {missed} packets: the disk did not keep up; narrow its filter");
    assert!(status.warnings.contains(&warning) && outcome.summary.warnings.contains(&warning), "{:?}", status.warnings);
}

#[test]
fn a_file_that_cannot_be_opened_ends_no_run() {
    let mut lab = Lab::of(&(star(&HOSTS) + EVERYWHERE), &HOSTS);
    let refuse = |_: &str| Err(io::Error::other("no room on the device"));
    lab.driver().fabric().write_captures(Arc::new(refuse), CAPTURE_CHUNKS);
    lab.know_stations();
    talk(&mut lab, 10);
    assert_eq!(lab.received()[1].len(), 10);
    let status = lab.finish();
    let is_told =
        |warning: &String| warning.contains("the capture packets") && warning.contains("no room on the device");
    assert!(status.warnings.iter().any(is_told), "{:?}", status.warnings);
}

#[test]
fn a_part_of_a_fabric_captures_its_own_places_with_the_bytes_of_the_wire() {
    let headers_only = capture("name = \"headers\"\nlinks = [\"*\"]");
    let text = guarded() + &EVERYWHERE.replace("hosts", "payload = true\nhosts") + &headers_only;
    let [left, right] = [["h0", "sw1"], ["sw0", "h1"]].map(|points| Lab::of(&text, &points));
    let mut boxes = Apart { left, right, wires: [(1, 0)] };
    boxes.right.send(1, &frame(station(1), [0xff; 6], 60));
    boxes.run(100);
    boxes.left.send(0, &datagram(0, 1, 0, 7, false));
    // A datagram to RoCEv2's port that is shorter than RoCEv2's headers.
    let short = &mut datagram(0, 1, 0, 8, false)[..46];
    short[16..18].copy_from_slice(&32_u16.to_be_bytes());
    short[36..40].copy_from_slice(&[0x12, 0xb7, 0, 12]);
    boxes.left.send(0, short);
    // The frame of the wire, on its way from the left box to the right one.
    let mut on_wire = Vec::new();
    for _ in 0..100 {
        boxes.left.turn();
        let left = boxes.left.far_end(1).receive();
        left.iter().for_each(|bytes| boxes.right.send(0, bytes));
        on_wire.extend(left);
        boxes.right.turn();
        boxes.left.stall(5_000);
        boxes.right.stall(5_000);
    }
    let with_datagram: Vec<_> =
        on_wire.into_iter().filter(|bytes| bytes.ends_with(&datagram(0, 1, 0, 7, false))).collect();
    assert_eq!(with_datagram.len(), 1);
    let (left, right) = (files(boxes.left).0, files(boxes.right).0);
    assert_eq!(
        left[0].interfaces,
        ["h0", "h0->sw0", "sw0->h0", "sw0->sw1", "sw1->sw0", "sw0->h0 port", "sw0->sw1 port", "sw0"]
    );
    for (box_, file) in [("left", &left[0]), ("right", &right[0])] {
        let seen = data(&file.at("sw0->sw1"));
        assert!(seen.contains(&with_datagram[0]), "{box_}: {seen:x?}");
    }
    for file in [&left[1], &right[1]] {
        let seen = file.at("sw0->sw1");
        let ending = |bytes: &[u8]| seen.iter().find(|packet| packet.data.ends_with(bytes)).expect("it has crossed");
        let (whole, cut) = (ending(short), ending(&datagram(0, 1, 0, 7, false)[..42]));
        assert_eq!((whole.length - whole.data.len(), cut.length), (0, with_datagram[0].len()));
    }
}
