//! Commands that cut links of a live run: their ends detect it, and apply the scenario's recovery.

use hitless_core::wire::frame::MacAddress;
use hitless_core::wire::{Duration, Time};
use hitless_live::fabric::{Leaving, LiveCommand, LiveFabric, LiveSettings};

use super::lab::{graph, scenario_of};

const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
const B: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// a - left - right - b, and a second path through `other`.
fn fabric(recovery: &str, more: &str) -> LiveFabric {
    let ends = [("a", "left"), ("b", "right"), ("left", "right"), ("left", "other"), ("other", "right")];
    let scenario = scenario_of(&format!("{}{recovery}\n{more}", graph("cuts", &["left", "right", "other"], &ends)));
    let stations = vec![(MacAddress(A), "a".to_owned()), (MacAddress(B), "b".to_owned())];
    let settings = LiveSettings { stations, ..LiveSettings::new(vec!["a".into(), "b".into()]) };
    LiveFabric::new(scenario, &settings).expect("both hosts are real")
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// Sends a frame every 20 us from `from_us` to `to_us`; returns the numbers of those that arrive, in order.
fn send(fabric: &mut LiveFabric, from_us: u64, to_us: u64) -> Vec<u64> {
    let mut arrived = Vec::new();
    for at_us in (from_us..to_us).step_by(20) {
        let mut frame = [0; 100];
        frame[..6].copy_from_slice(&B);
        frame[6..12].copy_from_slice(&A);
        frame[12..14].copy_from_slice(&[0x88, 0xb6]);
        frame[14..22].copy_from_slice(&at_us.to_be_bytes());
        fabric.receive(0, at(at_us), &frame);
        fabric.advance(at(at_us) + Duration::from_us(19));
        fabric.departures(|_, leaving| {
            let Leaving::Frame(bytes) = leaving else { panic!("it came alone") };
            let number = bytes[14..22].try_into().expect("eight bytes");
            arrived.push(u64::from_be_bytes(number));
        });
    }
    arrived
}

fn tell(fabric: &mut LiveFabric, command: &str) {
    let command: LiveCommand = command.parse().expect("a command");
    fabric.command(&command).expect("it can be carried out");
}

const REROUTE: &str = "[recovery]\ndetection = { kind = \"fixed\", delay = \"100 us\" }\n\
                       scheme = { kind = \"local-reroute\", reconfiguration = \"200 us\", backup = \"first\" }";
const SAME_PORT: &str = "[recovery]\ndetection = { kind = \"fixed\", delay = \"100 us\" }\n\
                         scheme = { kind = \"same-port\", reconfiguration = \"200 us\" }";

#[test]
fn without_recovery_a_cut_link_stays_cut_until_it_is_mended() {
    let mut fabric = fabric("", "");
    assert_eq!(send(&mut fabric, 0, 200).len(), 10);
    tell(&mut fabric, "fail left<->right");
    assert_eq!(send(&mut fabric, 200, 2_000).len(), 0);
    tell(&mut fabric, "repair left<->right");
    assert_eq!(send(&mut fabric, 2_000, 2_200).len(), 10);
}

#[test]
fn with_local_rerouting_frames_take_another_way_and_come_back_when_it_is_mended() {
    let mut fabric = fabric(REROUTE, "");
    let direct = |fabric: &mut LiveFabric| {
        let view = fabric.view().links.into_iter().find(|link| link.link == "left->right").expect("it is there");
        view.frames_arrived
    };
    send(&mut fabric, 0, 200);
    tell(&mut fabric, "fail left<->right");
    let lost = send(&mut fabric, 200, 600).len();
    assert!((4..8).contains(&lost), "{lost} of 20 arrive: those after 300 us");
    let before = direct(&mut fabric);
    assert_eq!(send(&mut fabric, 600, 1_000).len(), 20);
    assert_eq!(direct(&mut fabric), before, "they went round");
    tell(&mut fabric, "repair left<->right");
    assert_eq!(send(&mut fabric, 1_000, 2_000).len(), 50);
    assert!(direct(&mut fabric) > before, "they are back");
}

#[test]
fn with_the_scheme_same_port_a_cut_is_repaired_by_itself() {
    let mut fabric = fabric(SAME_PORT, "");
    tell(&mut fabric, "fail left<->right");
    let arrived = send(&mut fabric, 0, 1_000);
    assert!(arrived.first().is_some_and(|&first| (280..=340).contains(&first)), "{arrived:?}");
    assert_eq!(arrived.len() as u64, (1_000 - arrived[0]).div_ceil(20));
}

#[test]
fn with_sqr_a_cut_costs_no_frame_and_no_order() {
    let sqr = "[[mechanism]]\nkind = \"sqr\"\nlinks = [\"left->right\"]\ncaching = \"delay-queue\"";
    for recovery in [REROUTE, SAME_PORT] {
        let mut fabric = fabric(recovery, sqr);
        let mut arrived = send(&mut fabric, 0, 300);
        tell(&mut fabric, "fail left<->right");
        arrived.extend(send(&mut fabric, 300, 3_000));
        tell(&mut fabric, "repair left<->right");
        arrived.extend(send(&mut fabric, 3_000, 6_000));
        let sent: Vec<u64> = (0..6_000).step_by(20).collect();
        assert_eq!(arrived, sent, "{recovery}");
    }
}
