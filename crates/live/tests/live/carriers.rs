//! Interfaces that lose their carrier or disappear: their links go down, and undeliverable frames are counted.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex};

use hitless_live::interfaces::device::Carrier;
use hitless_live::interfaces::watch::LinkChange;
use hitless_live::{CarrierSource, Options};

use super::apart::on_link;
use super::lab::{Lab, frame, graph, station};

/// The carriers that the test reports.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    now: BTreeMap<String, Carrier>,
    changes: Vec<LinkChange>,
}

impl Told {
    fn set(&self, name: &str, carrier: Carrier) {
        self.note(name, carrier, LinkChange::Present { index: 1, name: name.to_owned(), carrier, mtu_bytes: 1_500 });
    }

    /// Changes a carrier, while the kernel drops the notification.
    fn set_unheard(&self, name: &str, carrier: Carrier) {
        self.note(name, carrier, LinkChange::Missed);
    }

    fn note(&self, name: &str, carrier: Carrier, change: LinkChange) {
        let mut state = self.0.lock().expect("no test panics with it");
        state.now.insert(name.to_owned(), carrier);
        state.changes.push(change);
    }
}

impl CarrierSource for Told {
    fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()> {
        self.0.lock().expect("no test panics with it").changes.drain(..).for_each(take);
        Ok(())
    }

    fn look(&self, name: &str) -> Option<Carrier> {
        let state = self.0.lock().expect("no test panics with it");
        Some(state.now.get(name).copied().unwrap_or(Carrier::Present))
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        None
    }
}

const HOSTS: [&str; 2] = ["h0", "h1"];

fn lab() -> (Lab, Told) {
    let mut lab = Lab::new(&HOSTS, Options::default());
    let told = Told::default();
    lab.driver().watch_carriers(told.clone());
    lab.know_stations();
    (lab, told)
}

/// Number of frames out of 10 from h0 that reach h1, after the loop has read carriers.
fn come(lab: &mut Lab) -> usize {
    lab.run_for(2_000_000);
    (0..10).for_each(|_| lab.send(0, &frame(station(0), station(1), 100)));
    lab.run_for(3_000_000);
    lab.received()[1].len()
}

#[test]
fn without_carrier_the_link_is_down_and_with_it_it_is_up_again() {
    let (mut lab, told) = lab();
    assert_eq!(come(&mut lab), 10);
    for carrier in [Carrier::Lost, Carrier::Off] {
        told.set("memory1", carrier);
        assert_eq!(come(&mut lab), 0);
        told.set("memory1", Carrier::Present);
        assert_eq!(come(&mut lab), 10);
    }
    told.set("memory7", Carrier::Lost);
    told.set_unheard("memory1", Carrier::Lost);
    assert_eq!(come(&mut lab), 0, "what the kernel had no room to tell is looked for");
    told.set_unheard("memory1", Carrier::Present);
    assert_eq!(come(&mut lab), 10);
    let status = lab.finish();
    assert_eq!((status.ports[1].has_carrier, status.ports[1].carrier_losses), (true, 3));
    let down = status.links.iter().find(|link| link.link == "sw->h1").expect("it begins here");
    assert_eq!(down.frames_lost_down, 30, "each is counted on the link");
    assert!(!status.is_overloaded);
}

#[test]
fn an_interface_that_has_no_carrier_at_the_start_begins_with_a_link_that_is_down() {
    let told = Told::default();
    told.set_unheard("memory1", Carrier::Lost);
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.driver().watch_carriers(told.clone());
    lab.send(0, &frame(station(0), station(1), 100));
    lab.run_for(1_000_000);
    assert!(lab.received()[1].is_empty());
    told.set("memory1", Carrier::Present);
    lab.run_for(2_000_000);
    assert_eq!(come(&mut lab), 10);
    lab.finish();
}

#[test]
fn with_recovery_the_switch_at_the_carrier_that_was_lost_finds_another_way() {
    let ends = [("h0", "a"), ("h1", "b"), ("a", "b"), ("a", "c"), ("c", "b")];
    let text = graph("two-ways", &["a", "b", "c"], &ends)
        + "[recovery]\ndetection = { kind = \"fixed\", delay = \"10 us\" }\n\
           scheme = { kind = \"local-reroute\", reconfiguration = \"10 us\", backup = \"first\" }\n";
    // b and h1 run elsewhere; a reaches b over the direct link, or through c.
    let mut lab = Lab::of(&text, &["h0", "a->b", "c->b"]);
    let told = Told::default();
    lab.driver().watch_carriers(told.clone());
    let to_h1 = |lab: &mut Lab| {
        lab.send(0, &frame(station(0), station(9), 100));
        lab.run_for(2_000_000);
        let received = lab.received();
        (received[1].len(), received[2].len())
    };
    // A frame from b teaches the station's place.
    lab.send(1, &on_link(&hitless_core::wire::ShimStack::default(), &frame(station(9), [0xff; 6], 60)));
    lab.run_for(1_000_000);
    lab.received();
    assert_eq!(to_h1(&mut lab), (1, 0));
    told.set("memory1", Carrier::Lost);
    lab.run_for(2_000_000);
    assert_eq!(to_h1(&mut lab), (0, 1), "around by c");
    lab.finish();
}

/// Frames that left through a removed interface used to be counted nowhere.
#[test]
fn departures_of_a_failed_port_are_drops() {
    let mut lab = Lab::new(&HOSTS, Options::default());
    lab.know_stations();
    (0..10).for_each(|_| lab.send(0, &frame(station(0), station(1), 100)));
    lab.turn();
    lab.far_end(1).unplug();
    lab.run_for(2_000_000);
    assert_eq!(come(&mut lab), 0);
    let status = lab.finish();
    let down = status.links.iter().find(|link| link.link == "sw->h1").expect("it begins here");
    let gone = status.drops.get("interface gone").copied().unwrap_or(0);
    assert_eq!(down.frames_lost_down + gone, 20, "{:?}", status.drops);
    assert!(!status.ports[1].has_carrier);
    assert!(status.is_overloaded, "an interface that has gone is no result");
}

const SECOND_NS: u64 = 1_000_000_000;

/// Advances the time without traffic, one turn every 10 ms.
fn pass(lab: &mut Lab, ns: u64) {
    for _ in 0..ns / 10_000_000 {
        lab.stall(10_000_000);
        lab.turn();
    }
}

#[test]
fn an_interface_that_was_gone_and_is_back_is_used_again() {
    let (mut lab, told) = lab();
    for round in 1..=2 {
        assert_eq!(come(&mut lab), 10);
        lab.far_end(1).unplug();
        pass(&mut lab, 2 * SECOND_NS);
        assert_eq!(come(&mut lab), 0);
        let port = lab.status().ports[1].clone();
        assert_eq!((port.has_carrier, port.returns), (false, round - 1));
        assert!(port.failed.is_some());
        told.set("memory1", Carrier::Lost);
        lab.far_end(1).plug();
        pass(&mut lab, 2 * SECOND_NS);
        assert_eq!(come(&mut lab), 0, "it is back, and nobody is at the other end");
        told.set("memory1", Carrier::Present);
        assert_eq!(come(&mut lab), 10);
        let port = lab.status().ports[1].clone();
        assert_eq!((port.has_carrier, port.returns, port.failed), (true, round, None));
    }
    let status = lab.finish();
    assert!(status.is_overloaded, "frames were lost that the scenario does not lose");
    assert!(status.warnings.iter().any(|text| text.contains("came back, 2 times")), "{:?}", status.warnings);
}

#[test]
fn an_idle_interface_that_goes_is_found_gone() {
    let (mut lab, _told) = lab();
    lab.far_end(1).unplug();
    pass(&mut lab, 2 * SECOND_NS);
    assert!(!lab.status().ports[1].has_carrier);
    lab.finish();
}

/// Both the loss and the return used to go unreported.
#[test]
fn the_loss_and_the_return_of_an_interface_are_told_once_each() {
    let (mut lab, _told) = lab();
    let tell = |lab: &mut Lab| -> Vec<(String, &'static str)> {
        let control = hitless_live::Control::default();
        pass(lab, 3 * SECOND_NS);
        lab.driver().tell(&control);
        control.take_notices().into_iter().map(|told| (told.interface, told.change.name())).collect()
    };
    assert_eq!(tell(&mut lab), []);
    lab.far_end(1).unplug();
    assert_eq!(tell(&mut lab), [("memory1".to_owned(), "gone")]);
    assert_eq!(tell(&mut lab), []);
    lab.far_end(1).plug();
    assert_eq!(tell(&mut lab), [("memory1".to_owned(), "back")]);
    lab.far_end(0).refuse_to_rejoin();
    lab.far_end(0).unplug();
    let [gone, lost] = ["gone", "lost"].map(|change| ("memory0".to_owned(), change));
    assert_eq!(tell(&mut lab), [gone, lost], "once that it is gone, and once that it is so for good");
    lab.far_end(0).plug();
    assert_eq!(tell(&mut lab), []);
    assert!(lab.status().ports[0].failed.as_deref().is_some_and(|text| text.contains("start anew")));
    lab.finish();
}
