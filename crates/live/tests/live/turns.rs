//! The loop over interfaces in memory, with a clock that the test moves.

use std::sync::mpsc::channel;

use hitless_live::interfaces::MonotonicTime;
use hitless_live::{Control, Intake, Kinds, Options, Request};

use super::lab::{Lab, frame, star, station};

const US: u64 = 1_000;
const HOSTS: [&str; 2] = ["h0", "h1"];

#[test]
fn a_frame_for_a_known_station_goes_to_it_alone_and_arrives_when_the_model_says() {
    let mut lab = Lab::new(&["h0", "h1", "h2"], Options::default());
    lab.know_stations();
    let bytes = frame(station(0), station(1), 1_000);
    lab.send(0, &bytes);
    // Two links of 1 us, 1,024 bytes at 1 Gbps on each, and more than 0.4 us in the switch.
    lab.run_for(10 * US);
    assert_eq!(lab.received(), [vec![], vec![], Vec::<Vec<u8>>::new()]);
    lab.run_for(20 * US);
    assert_eq!(lab.received(), [vec![], vec![bytes], vec![]]);
    lab.finish();
}

#[test]
fn what_nobody_knows_and_what_is_for_all_goes_to_all_others() {
    let mut lab = Lab::new(&["h0", "h1", "h2"], Options::default());
    let [unknown, broadcast] = [station(9), [0xff; 6]].map(|to| frame(station(0), to, 60));
    lab.send(0, &unknown);
    lab.send(0, &broadcast);
    lab.run_for(100 * US);
    let both = || vec![unknown.clone(), broadcast.clone()];
    assert_eq!(lab.received(), [vec![], both(), both()]);
    let status = lab.finish();
    assert_eq!((status.frames_entered, status.frames_copied, status.frames_left, status.frames_inside), (2, 2, 4, 0));
}

#[test]
fn a_station_is_learned_and_followed_when_it_moves() {
    let mut lab = Lab::new(&["h0", "h1", "h2"], Options::default());
    let to_station = frame(station(0), station(7), 60);
    for place in [1, 2] {
        lab.send(place, &frame(station(7), [0xff; 6], 60));
        lab.run_for(100 * US);
        lab.received();
        lab.send(0, &to_station);
        lab.run_for(100 * US);
        let mut expected = [vec![], vec![], Vec::<Vec<u8>>::new()];
        expected[place] = vec![to_station.clone()];
        assert_eq!(lab.received(), expected, "behind h{place}");
    }
    // Its own side is not a destination.
    lab.send(2, &to_station);
    lab.run_for(100 * US);
    let status = lab.finish();
    assert_eq!(status.retired["destination is where it comes from"], 1);
}

#[test]
fn a_pool_without_room_drops_arrivals_and_says_so() {
    let mut lab = Lab::build(&star(&HOSTS), &HOSTS, &[], Options::default(), (4, 1_024));
    lab.know_stations();
    (0..10).for_each(|_| lab.send(0, &frame(station(0), station(1), 60)));
    lab.run_for(200 * US);
    assert_eq!(lab.received()[1].len(), 4);
    lab.send(0, &frame(station(0), station(1), 60));
    lab.run_for(200 * US);
    assert_eq!(lab.received()[1].len(), 1, "the places are free again");
    let status = lab.finish();
    assert_eq!(status.drops["no room for a frame"], 6);
}

#[test]
fn frames_that_are_no_frames_are_counted() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.send(0, &[1, 2, 3]);
    lab.send(0, &[0; 3_000]);
    lab.run_for(100 * US);
    let status = lab.finish();
    assert_eq!((status.drops["no Ethernet header"], status.drops["frame too long"]), (1, 1));
}

#[test]
fn a_loop_that_sleeps_too_long_is_overloaded_and_its_packets_go_where_they_would() {
    let mut lab = Lab::new(&HOSTS, Options { slack_ns: 100 * US, ..Options::default() });
    lab.know_stations();
    let bytes = frame(station(0), station(1), 1_000);
    lab.send(0, &bytes);
    lab.turn();
    lab.stall(5_000 * US);
    lab.turn();
    assert_eq!(lab.received()[1], [bytes]);
    let status = lab.finish();
    assert!(status.is_overloaded);
    assert_eq!((status.ports[1].departures.misses, status.ports[0].departures.misses), (1, 0));
    assert!((4_900_000..5_010_000).contains(&status.ports[1].departures.worst_ns), "{:?}", status.ports[1]);
    assert!(
        status.warnings[0].starts_with("1 of 1 departures to h1 (memory1) were more than 100 us late"),
        "{status:?}"
    );
}

#[test]
fn a_frame_after_a_long_silence_is_handled_at_its_own_time() {
    let mut lab = Lab::new(&["a", "b"], Options::default());
    lab.know_stations();
    lab.stall(4_000_000);
    lab.send(0, &frame(station(0), station(1), 1_000));
    lab.run_for(100_000);
    assert_eq!(lab.received()[1].len(), 1);
    let status = lab.finish();
    assert!(!status.is_overloaded, "{:?}", status.warnings);
}

#[test]
fn what_is_due_at_the_start_is_not_late_because_the_run_began_later() {
    let change = "[[link]]\nname = \"a->sw\"\nchanges = [{ at = \"1 us\", loss = { kind = \"none\" } }]\n";
    let text = format!("{}{change}", star(&["a", "b"]));
    let options = Options { spin_ns: 0, ..Options::default() };
    let mut lab = Lab::build(&text, &["a", "b"], &[], options, (256, 1_024));
    lab.stall(50_000_000);
    lab.driver().run(&Control::default(), Some(1_000_000));
    let status = lab.status();
    assert!(status.timers.count > 0 && !status.is_overloaded, "{status:?}");
}

#[test]
fn a_full_transmit_ring_is_a_drop_with_a_reason_and_an_overload() {
    let mut lab = Lab::build(&star(&HOSTS), &HOSTS, &[], Options::default(), (256, 2));
    lab.know_stations();
    (0..5).for_each(|_| lab.send(0, &frame(station(0), station(1), 60)));
    lab.turn();
    // All five leave in one turn, and the ring holds two.
    lab.stall(900 * US);
    lab.turn();
    assert_eq!(lab.received()[1].len(), 2);
    let status = lab.finish();
    assert_eq!((status.is_overloaded, status.drops["transmit refused"]), (true, 3));
}

#[test]
fn overruns_of_the_receive_ring_are_an_overload() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.far_end(0).overrun(7);
    lab.run_for(100 * US);
    let status = lab.finish();
    assert_eq!((status.is_overloaded, status.drops["receive ring overrun"]), (true, 7));
}

#[test]
fn a_flood_at_one_port_does_not_keep_others_waiting() {
    let mut lab = Lab::new(&["h0", "h1", "h2"], Options { arrivals_per_turn: 8, ..Options::default() });
    lab.know_stations();
    (0..1_000).for_each(|_| lab.send(0, &frame(station(0), station(1), 60)));
    lab.send(2, &frame(station(2), station(1), 60));
    lab.turn();
    let status = lab.status();
    // One each was there before.
    assert_eq!((status.ports[0].counters.frames_received, status.ports[2].counters.frames_received), (1 + 8, 1 + 1));
}

#[test]
fn an_interface_that_is_gone_ends_neither_the_run_nor_the_others() {
    let mut lab = Lab::new(&["h0", "h1", "h2"], Options::default());
    lab.know_stations();
    lab.far_end(2).unplug();
    lab.send(0, &frame(station(0), station(1), 60));
    lab.send(0, &frame(station(0), station(2), 60));
    lab.run_for(100 * US);
    assert_eq!(lab.received()[1].len(), 1);
    let status = lab.finish();
    assert!(status.is_overloaded && status.ports[2].failed.is_some(), "{status:?}");
}

#[test]
fn a_link_fails_and_is_repaired_on_command() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.know_stations();
    let bytes = frame(station(0), station(1), 60);
    for (command, arrive) in
        [("fail sw->h1", 0), ("repair sw->h1", 1), ("corrupt h0<->sw 1", 0), ("corrupt h0->sw 0", 1)]
    {
        assert_eq!(lab.command(command), Ok(()));
        lab.send(0, &bytes);
        lab.run_for(100 * US);
        assert_eq!(lab.received()[1].len(), arrive, "{command}");
    }
    for (command, message) in [
        ("fail sw->h9", "there is no node called 'h9'"),
        ("protect h0->sw 1 blocking", "no protection that can be switched on is configured on 'h0->sw'"),
    ] {
        assert_eq!(lab.command(command), Err(message.to_owned()), "{command}");
    }
    let status = lab.finish();
    assert_eq!((status.drops["lost on a link that was down"], status.drops["corrupted on a link"]), (1, 1));
}

#[test]
fn requests_are_answered() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    let (reply, answer) = channel();
    lab.driver().serve(Request::Status(reply));
    let status = answer.recv().expect("an answer");
    assert_eq!(status.ports.iter().map(|port| port.mode.as_str()).collect::<Vec<_>>(), ["memory", "memory"]);
    assert_eq!(
        status.links.iter().map(|link| link.link.as_str()).collect::<Vec<_>>(),
        ["h0->sw", "sw->h0", "h1->sw", "sw->h1"]
    );
}

fn always(kinds: &str) -> Intake {
    Intake::always(kinds.parse().expect("kinds of frames"))
}

#[test]
fn a_port_takes_only_frames_of_its_period() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.know_stations();
    let frames: Vec<_> = (0..6).map(|size| frame(station(0), station(1), 60 + size)).collect();
    let begin = lab.now();
    let between = |from: u64, until: u64| Intake {
        from: MonotonicTime(begin.0 + from),
        until: MonotonicTime(begin.0 + until),
        ..Intake::default()
    };
    lab.driver().set_intake("h0", between(100 * US, 300 * US)).expect("a port");
    for (number, bytes) in frames.iter().enumerate() {
        lab.send(0, bytes);
        lab.stall(100 * US);
        // A loop that was stopped finds old frames; a period that was extended begins as before.
        if number == 4 {
            lab.run_for(1);
            lab.driver().set_intake("h0", between(100 * US, 600 * US)).expect("a port");
        }
    }
    lab.run_for(100 * US);
    assert_eq!(lab.received()[1], [&frames[1..4], &frames[5..]].concat());
    assert_eq!(lab.status().ports[0].frames_left_to_kernel, 2);
}

#[test]
fn a_port_leaves_frames_to_the_kernel_on_request() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.know_stations();
    let experimental = frame(station(0), station(1), 60);
    let mut other = experimental.clone();
    other[12..14].copy_from_slice(&[0x08, 0x00]);
    for (intake, expected) in [("nothing", vec![]), ("link", vec![&experimental]), ("all", vec![&experimental, &other])]
    {
        let (reply, answer) = channel();
        lab.driver().serve(Request::Intake("h0".to_owned(), always(intake), reply));
        assert_eq!(answer.recv(), Ok(Ok(())));
        lab.send(0, &experimental);
        lab.send(0, &other);
        lab.run_for(100 * US);
        assert_eq!(lab.received()[1].iter().collect::<Vec<_>>(), expected, "{intake}");
    }
    let (reply, answer) = channel();
    lab.driver().serve(Request::Intake("h9".to_owned(), always("all"), reply));
    assert_eq!(answer.recv(), Ok(Err("'h9' has no port here".to_owned())));
    assert!("some".parse::<Kinds>().is_err());
    let status = lab.finish();
    assert_eq!((status.ports[0].frames_left_to_kernel, status.ports[1].frames_left_to_kernel), (3, 0));
    assert!(status.drops.is_empty() && !status.is_overloaded, "{status:?}");
}
