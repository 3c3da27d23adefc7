//! A fabric in two processes, with LinkGuardian on the link between them.

use super::deflected::datagram;
use super::lab::{Apart, Lab, frame, graph, station};
use hitless_live::status::ProtectionStatus;

/// h0 - sw0 - sw1 - h1, h2.
fn chain() -> String {
    graph("chain", &["sw0", "sw1"], &[("h0", "sw0"), ("sw0", "sw1"), ("h1", "sw1"), ("h2", "sw1")])
        + "[[link]]\nname = \"sw0->sw1\"\nloss = { kind = \"bernoulli\", rate = 0.05 }\n\
           [[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw0->sw1\"\nactual_loss_rate = 0.05\n\
           ack_no_timeout = \"200 us\"\n"
}

fn left(text: &str) -> Lab {
    Lab::of(text, &["h0", "sw1"])
}

fn right(text: &str) -> Lab {
    Lab::of(text, &["sw0", "h1", "h2"])
}

fn boxes(text: &str) -> Apart<1> {
    Apart { left: left(text), right: right(text), wires: [(1, 0)] }
}

impl Apart<1> {
    /// Teaches both sides where h1 is, including across the link.
    fn hear_of_h1(&mut self) {
        self.right.send(1, &frame(station(1), [0xff; 6], 60));
        self.run(100);
        assert_eq!((self.left.far_end(0).receive().len(), self.right.far_end(2).receive().len()), (1, 1));
        self.right.far_end(1).receive();
    }

    /// Sends a frame from h0.
    fn send(&mut self, bytes: &[u8], turns: usize) {
        self.left.send(0, bytes);
        self.run(turns);
    }

    /// Returns all frames that h1 has received after a pause.
    fn come(&mut self) -> Vec<Vec<u8>> {
        self.run(200);
        self.right.far_end(1).receive()
    }
}

/// A frame from h0 to h1.
fn numbered(number: u16, bytes: usize) -> Vec<u8> {
    let mut bytes = frame(station(0), station(1), bytes);
    bytes[100..102].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn numbers(frames: &[Vec<u8>]) -> Vec<u16> {
    frames.iter().map(|bytes| u16::from_be_bytes([bytes[100], bytes[101]])).collect()
}

#[test]
fn packets_with_a_priority_by_code_point_cross_a_link_between_two_processes() {
    let text = format!("{}[host]\npriority_tagger = {{ by = \"dscp\" }}\n", chain());
    let mut boxes = boxes(&text);
    let sent: Vec<_> = (0..100).map(|number| datagram(0, 1, (number % 64) as u8, number, number % 2 == 0)).collect();
    sent.iter().for_each(|bytes| boxes.send(bytes, 4));
    assert_eq!(boxes.come(), sent);
    boxes.left.finish();
    boxes.right.finish();
}

#[test]
fn a_lossy_link_between_two_processes_loses_nothing_and_keeps_order() {
    let mut boxes = boxes(&chain());
    boxes.hear_of_h1();
    let mut received = Vec::new();
    for number in 0..1_000 {
        boxes.send(&numbered(number, 200), 2);
        received.extend(boxes.right.far_end(1).receive());
    }
    received.extend(boxes.come());
    assert_eq!(numbers(&received), (0..1_000).collect::<Vec<_>>());
    assert!(boxes.right.far_end(2).receive().is_empty(), "h2 is not meant");
    let [there, here] = [boxes.left, boxes.right].map(|lab| {
        let status = lab.finish();
        status.links.iter().find(|link| link.link == "sw0->sw1").expect("it has an end here").frames_corrupted
    });
    // One in 20 of the packets, their copies, and a few dummies after each.
    assert!((100..400).contains(&here), "{here}");
    assert_eq!(there, 0, "what arrives elsewhere is corrupted there");
}

/// The published programs set the type to IPv4 for all frames.
#[test]
fn any_ether_type_is_preserved_on_a_protected_link() {
    let mut boxes = boxes(&chain());
    boxes.hear_of_h1();
    let types: [u16; 7] = [0x0800, 0x86dd, 0x0806, 0x88f7, 0x88cc, 0xabcd, 0x0100];
    let mut sent = Vec::new();
    for (number, ether_type) in (0..).zip(types.into_iter().cycle().take(140)) {
        let mut bytes = numbered(number, 300);
        bytes[12..14].copy_from_slice(&ether_type.to_be_bytes());
        boxes.send(&bytes, 2);
        sent.push(bytes);
    }
    assert_eq!(boxes.come(), sent);
}

/// Either process ends and is restarted while the other continues.
#[test]
fn a_process_that_is_started_anew_loses_nothing_with_a_handshake() {
    let text = |first: u32| format!("{}handshake = true\nfirst_number = {first}\n", chain());
    for left_restarts in [true, false] {
        let mut boxes = boxes(&text(0));
        let mut received = Vec::new();
        for life in 0..3 {
            boxes.hear_of_h1();
            (0..100).for_each(|number| boxes.send(&numbered(life * 100 + number, 200), 2));
            received.extend(boxes.come());
            if left_restarts {
                boxes.left = left(&text(u32::from(life + 1) * 1_000));
            } else {
                boxes.right = right(&text(0));
            }
        }
        assert_eq!(numbers(&received), (0..300).collect::<Vec<_>>(), "left restarts: {left_restarts}");
    }
}

#[test]
fn foreign_bytes_on_the_link_are_refused_and_counted() {
    let mut right = right(&chain());
    right.send(0, &frame(station(0), station(1), 200));
    right.send(0, &[0xff; 14]);
    right.run_for(100_000);
    assert!(right.received().iter().all(Vec::is_empty) || right.far_end(1).receive().is_empty());
    let status = right.finish();
    assert_eq!(status.drops["no frame of the link"], 2);
}

#[test]
fn what_a_switch_elsewhere_receives_is_not_corrupted_here() {
    let mut left = left(&chain());
    let refused = Err("'sw0->sw1' ends elsewhere: it is corrupted by the switch there".to_owned());
    assert_eq!(left.command("corrupt sw0->sw1 0.1"), refused);
    assert_eq!(left.command("corrupt sw1->sw0 0.1"), Ok(()));
}

fn protection(lab: &mut Lab) -> ProtectionStatus {
    let [end] = <[ProtectionStatus; 1]>::try_from(lab.status().protections).expect("one end is here");
    end
}

#[test]
fn each_end_of_a_link_tells_the_state_of_its_protection_and_the_receiver_hears_it_in_the_frames() {
    let text = format!("{}handshake = true\nactivation = [{{ at = \"0 s\", active = false }}]\n", chain());
    let mut boxes = boxes(&text);
    assert_eq!((protection(&mut boxes.left).phase, protection(&mut boxes.right).phase), ("off", "unknown"));
    boxes.hear_of_h1();
    boxes.send(&numbered(0, 200), 40);
    assert_eq!(protection(&mut boxes.right).phase, "off");
    boxes.left.command("protect sw0->sw1 3 non-blocking").expect("LinkGuardian is configured");
    assert_eq!(protection(&mut boxes.left).phase, "starting");
    (1..201).for_each(|number| boxes.send(&numbered(number, 200), 40));
    let (left, right) = (protection(&mut boxes.left), protection(&mut boxes.right));
    assert_eq!((left.end, left.beyond.as_deref(), left.phase), ("sender", Some("sw1"), "on"));
    assert_eq!((left.is_commanded, left.keeps_order, left.copies, left.lost), (true, false, Some(3), None));
    assert_eq!((right.end, right.beyond.as_deref(), right.phase), ("receiver", Some("sw0"), "on"));
    assert_eq!((right.keeps_order, right.copies, right.lost), (false, None, Some(0)));
    assert!(right.lost_on_link > 0 && right.lost_on_link == right.recovered, "{right:?}");
    assert!(left.recovered >= right.recovered, "{left:?} {right:?}");
    boxes.left.command("protect sw0->sw1 3 blocking").expect("it is protected");
    (201..221).for_each(|number| boxes.send(&numbered(number, 200), 40));
    assert!(protection(&mut boxes.left).keeps_order && protection(&mut boxes.right).keeps_order);
    boxes.left.command("unprotect sw0->sw1").expect("it is protected");
    (221..241).for_each(|number| boxes.send(&numbered(number, 200), 40));
    assert_eq!((protection(&mut boxes.left).phase, protection(&mut boxes.right).phase), ("off", "off"));
}

/// Check numbers do not cross a link between processes, so that the count was always 0 there.
#[test]
fn a_packet_that_is_lost_with_its_repair_counts_as_lost_in_the_process_behind_the_link() {
    let text = chain().replace("rate = 0.05 }", "rate = 0.2 }");
    let mut boxes = boxes(&text.replace("actual_loss_rate = 0.05", "copies = 1"));
    boxes.hear_of_h1();
    let mut received = Vec::new();
    for number in 0..500 {
        boxes.send(&numbered(number, 200), 50);
        received.extend(boxes.right.far_end(1).receive());
    }
    boxes.run(10_000);
    received.extend(boxes.come());
    let (end, gone) = (protection(&mut boxes.right), 500 - received.len() as u64);
    assert!(gone > 5, "{gone}");
    assert_eq!((end.lost, end.lost_on_link - end.recovered), (Some(gone), gone), "{end:?}");
}
