//! One fabric in two processes: LinkGuardian on a link whose ends are in different ones.

use hitless_live::Options;

use super::deflected::datagram;
use super::lab::{Lab, frame, station};

/// h0 - sw0 - sw1 - h1, h2.
fn chain() -> String {
    format!(
        "name = \"chain\"\n[topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h1\", \"h2\"]\n\
         switches = [\"sw0\", \"sw1\"]\n\
         links = [{}]\n[[link]]\nname = \"sw0->sw1\"\nloss = {{ kind = \"bernoulli\", rate = 0.05 }}\n\
         [[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw0->sw1\"\nactual_loss_rate = 0.05\n\
         ack_no_timeout = \"200 us\"\n",
        [("h0", "sw0"), ("sw0", "sw1"), ("h1", "sw1"), ("h2", "sw1")]
            .map(|(a, b)| format!("{{ ends = [\"{a}\", \"{b}\"], rate = \"1 Gbps\", delay = \"1 us\" }}"))
            .join(", ")
    )
}

/// Turns both, and carries what they send each other over the wire.
fn turn(left: &mut Lab, right: &mut Lab) {
    left.turn();
    right.turn();
    for bytes in left.far_end(1).receive() {
        right.send(0, &bytes);
    }
    for bytes in right.far_end(0).receive() {
        left.send(1, &bytes);
    }
    left.stall(5_000);
    right.stall(5_000);
}

#[test]
fn packets_with_a_priority_by_code_point_cross_a_link_between_two_processes() {
    let text = format!("{}[host]\nmarking = {{ by = \"dscp\" }}\n", chain());
    let mut left = Lab::build(&text, &["h0", "sw1"], Options::default(), 256, 1_024);
    let mut right = Lab::build(&text, &["sw0", "h1", "h2"], Options::default(), 256, 1_024);
    let sent: Vec<_> = (0..100).map(|number| datagram(0, 1, (number % 64) as u8, number, number % 2 == 0)).collect();
    for bytes in &sent {
        left.send(0, bytes);
        (0..4).for_each(|_| turn(&mut left, &mut right));
    }
    (0..200).for_each(|_| turn(&mut left, &mut right));
    assert_eq!(right.far_end(1).receive(), sent);
    left.finish();
    right.finish();
}

#[test]
fn a_lossy_link_between_two_processes_loses_nothing_and_keeps_order() {
    let text = chain();
    let mut left = Lab::build(&text, &["h0", "sw1"], Options::default(), 256, 1_024);
    let mut right = Lab::build(&text, &["sw0", "h1", "h2"], Options::default(), 256, 1_024);
    // Everybody hears of h1, behind the link too.
    right.send(1, &frame(station(1), [0xff; 6], 60));
    (0..100).for_each(|_| turn(&mut left, &mut right));
    assert_eq!((left.far_end(0).receive().len(), right.far_end(2).receive().len()), (1, 1));
    let mut received = Vec::new();
    for number in 0..1_000u16 {
        let mut bytes = frame(station(0), station(1), 200);
        bytes[100..102].copy_from_slice(&number.to_be_bytes());
        left.send(0, &bytes);
        (0..2).for_each(|_| turn(&mut left, &mut right));
        received.extend(right.far_end(1).receive());
    }
    (0..200).for_each(|_| turn(&mut left, &mut right));
    received.extend(right.far_end(1).receive());
    let numbers: Vec<u16> = received.iter().map(|bytes| u16::from_be_bytes([bytes[100], bytes[101]])).collect();
    assert_eq!(numbers, (0..1_000).collect::<Vec<_>>());
    assert!(right.far_end(2).receive().is_empty(), "h2 is not meant");
    let (left, right) = (left.finish(), right.finish());
    let corrupted = right.links.iter().find(|link| link.link == "sw0->sw1").expect("it ends here").frames_corrupted;
    // One in 20 of the packets, their copies, and a few dummies after each.
    assert!((100..400).contains(&corrupted), "{corrupted}");
    let there = left.links.iter().find(|link| link.link == "sw0->sw1").expect("it begins here");
    assert_eq!(there.frames_corrupted, 0, "what arrives elsewhere is corrupted there");
}

/// The published programs write IPv4 on whatever they have carried.
#[test]
fn any_ether_type_is_preserved_on_a_protected_link() {
    let text = chain();
    let mut left = Lab::build(&text, &["h0", "sw1"], Options::default(), 256, 1_024);
    let mut right = Lab::build(&text, &["sw0", "h1", "h2"], Options::default(), 256, 1_024);
    right.send(1, &frame(station(1), [0xff; 6], 60));
    (0..100).for_each(|_| turn(&mut left, &mut right));
    right.far_end(1).receive();
    let types: [u16; 7] = [0x0800, 0x86dd, 0x0806, 0x88f7, 0x88cc, 0xabcd, 0x0100];
    let mut sent = Vec::new();
    for (number, ether_type) in types.into_iter().cycle().take(140).enumerate() {
        let mut bytes = frame(station(0), station(1), 300);
        bytes[12..14].copy_from_slice(&ether_type.to_be_bytes());
        bytes[100..102].copy_from_slice(&(number as u16).to_be_bytes());
        left.send(0, &bytes);
        sent.push(bytes);
        (0..2).for_each(|_| turn(&mut left, &mut right));
    }
    (0..200).for_each(|_| turn(&mut left, &mut right));
    assert_eq!(right.far_end(1).receive(), sent);
}

/// Either process ends and is started again while the other goes on.
#[test]
fn a_process_that_is_started_anew_loses_nothing_with_a_handshake() {
    let text = |first: u32| format!("{}handshake = true\nfirst_number = {first}\n", chain());
    let build_left = |first| Lab::build(&text(first), &["h0", "sw1"], Options::default(), 256, 1_024);
    let build_right = || Lab::build(&text(0), &["sw0", "h1", "h2"], Options::default(), 256, 1_024);
    for left_restarts in [true, false] {
        let (mut left, mut right) = (build_left(0), build_right());
        let mut numbers = Vec::new();
        for life in 0..3u16 {
            right.send(1, &frame(station(1), [0xff; 6], 60));
            (0..100).for_each(|_| turn(&mut left, &mut right));
            right.far_end(1).receive();
            for number in 0..100u16 {
                let mut bytes = frame(station(0), station(1), 200);
                bytes[100..102].copy_from_slice(&(life * 100 + number).to_be_bytes());
                left.send(0, &bytes);
                (0..2).for_each(|_| turn(&mut left, &mut right));
            }
            (0..200).for_each(|_| turn(&mut left, &mut right));
            let received = right.far_end(1).receive();
            numbers.extend(received.iter().map(|bytes| u16::from_be_bytes([bytes[100], bytes[101]])));
            if left_restarts { left = build_left(u32::from(life + 1) * 1_000) } else { right = build_right() }
        }
        assert_eq!(numbers, (0..300).collect::<Vec<_>>(), "left restarts: {left_restarts}");
    }
}

#[test]
fn foreign_bytes_on_the_link_are_refused_and_counted() {
    let mut right = Lab::build(&chain(), &["sw0", "h1", "h2"], Options::default(), 256, 1_024);
    right.send(0, &frame(station(0), station(1), 200));
    right.send(0, &[0xff; 14]);
    right.run_for(100_000);
    assert!(right.received().iter().all(Vec::is_empty) || right.far_end(1).receive().is_empty());
    let status = right.finish();
    assert_eq!(status.drops["no frame of the link"], 2);
}

#[test]
fn what_a_switch_elsewhere_receives_is_not_corrupted_here() {
    let mut left = Lab::build(&chain(), &["h0", "sw1"], Options::default(), 256, 1_024);
    let refused = Err("'sw0->sw1' ends elsewhere: it is corrupted by the switch there".to_owned());
    assert_eq!(left.command("corrupt sw0->sw1 0.1"), refused);
    assert_eq!(left.command("corrupt sw1->sw0 0.1"), Ok(()));
}
