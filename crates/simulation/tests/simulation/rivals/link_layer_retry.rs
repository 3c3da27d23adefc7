//! Link Layer Retry on a fabric, from a scenario file: user settings, and invariants.

use crate::support::{check, counter, of_link, run};
use crate::testbed::{PROTECTED, received, testbed};

const RETRY: &str = "[[mechanism]]\nkind = \"link-layer-retry\"\nlink = \"sw2->sw6\"\ninit_action = \"block\"\n";

#[test]
fn everything_arrives_in_order_at_every_rate() {
    for rate_gbps in [25, 50, 100] {
        let outcome = run(&testbed(rate_gbps, 50, 0.01, RETRY));
        let (sent, received, reordered) = received(&outcome);
        assert!(sent > 1_000);
        assert_eq!((received, reordered), (sent, 0), "{rate_gbps}G");
        assert_eq!(counter(&outcome, "rx_expected_seq_good"), sent, "{rate_gbps}G");
        assert_eq!(counter(&outcome, "frames_numbered"), sent);
        assert!(counter(&outcome, "tx_replay") > sent / 200, "{rate_gbps}G");
        assert_eq!(counter(&outcome, "flushes"), 0);
        let bad = counter(&outcome, "rx_bad");
        assert_eq!(counter(&outcome, "tx_ok"), sent + bad + counter(&outcome, "rx_missing_seq"), "{rate_gbps}G");
    }
}

#[test]
fn frames_do_not_grow_and_the_way_back_carries_no_frames() {
    let outcome = run(&testbed(100, 50, 0.0, RETRY));
    let plain = run(&testbed(100, 50, 0.0, ""));
    assert_eq!(of_link(&outcome, PROTECTED, "arrived_bytes"), of_link(&plain, PROTECTED, "arrived_bytes"));
    assert_eq!(of_link(&outcome, "sw6->sw2", "frames_sent"), 0);
    assert!(counter(&outcome, "rx_ack_ctl_os") > 1_000);
}

#[test]
fn lost_control_ordered_sets_cost_time_and_nothing_else() {
    let way_back = "[[link]]\nname = \"sw6->sw2\"\nloss = { kind = \"bernoulli\", rate = 0.1 }\n";
    let outcome = run(&testbed(100, 50, 0.01, &format!("{way_back}{RETRY}")));
    let (sent, received, reordered) = received(&outcome);
    assert_eq!((received, reordered), (sent, 0));
    assert!(counter(&outcome, "rx_nack_ctl_os") < counter(&outcome, "tx_nack_ctl_os"));
    assert!(counter(&outcome, "replays_by_timer") > 0);
}

#[test]
fn it_runs_beside_afq_and_sqr_on_its_port_and_linkguardian_on_another() {
    let others = "[[mechanism]]\nkind = \"afq\"\nqueues = 22\n[[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw2->sw6\"]\n";
    let outcome = run(&testbed(25, 50, 0.01, &format!("{others}{RETRY}")));
    let (sent, received, _) = received(&outcome);
    assert_eq!(sent, received);
    let both = format!("{RETRY}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw2->sw6\"\n");
    let refused = check(&testbed(25, 50, 0.01, &both)).expect_err("one protection per link");
    assert!(refused.contains("a link has one protection"), "{refused}");
}
