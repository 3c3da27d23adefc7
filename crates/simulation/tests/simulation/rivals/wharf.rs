//! Wharf on a fabric, from a scenario file: user settings, and invariants.

use crate::support::{counter, run};
use crate::testbed::{received, testbed};

fn wharf(data_frames: u8, parity_frames: u8) -> String {
    format!(
        "[[mechanism]]\nkind = \"wharf\"\nlink = \"sw2->sw6\"\ndata_frames = {data_frames}\n\
         parity_frames = {parity_frames}\n"
    )
}

/// Residual loss rate at a frame loss rate of `loss`: the frame is lost together with `parity` or more other frames of
/// its block.
fn loss_left(loss: f64, data: u32, parity: u32) -> f64 {
    let others = data + parity - 1;
    let mut chance = (1.0 - loss).powi(others as i32);
    let mut restored = 0.0;
    for lost in 0..parity {
        restored += chance;
        chance *= f64::from(others - lost) / f64::from(lost + 1) * loss / (1.0 - loss);
    }
    loss * (1.0 - restored)
}

#[test]
fn the_loss_that_is_left_is_that_of_the_code() {
    for (data, parity, loss) in [(5, 1, 0.05), (25, 1, 0.02), (10, 3, 0.1)] {
        let mut text = testbed(400, 50, loss, &wharf(data as u8, parity as u8));
        text = text.replace("2 ms", "10 ms").replace("3 ms", "11 ms");
        let outcome = run(&text);
        let (sent, received, _) = received(&outcome);
        let expected = loss_left(loss, data, parity) * sent as f64;
        let lost = (sent - received) as f64;
        // Losses cluster in blocks, so the tolerance allows three per block.
        assert!((lost - expected).abs() < 5.0 * (3.0 * expected).sqrt(), "({data}, {parity}): {lost}, not {expected}");
        assert_eq!(counter(&outcome, "packets_lost"), sent - received);
        assert!(counter(&outcome, "frames_restored") > 0);
    }
}

#[test]
fn what_the_line_has_no_room_for_waits_and_is_dropped_by_its_queue() {
    let text = testbed(100, 100, 0.0, &wharf(5, 1));
    let outcome = run(&text.replace("checked = true", "buffer = { kind = \"static\", per_port = \"300 KB\" }"));
    let (sent, received, reordered) = received(&outcome);
    let share = received as f64 / sent as f64;
    let parity_share = 1.0 - 5.0 * 1_544.0 / (5.0 * 1_544.0 + 1_560.0);
    // The queue holds 300 KB of the 25 MB sent.
    assert!((1.0 - parity_share..1.0 - parity_share + 0.03).contains(&share), "{share}");
    assert_eq!(reordered, 0);
    assert_eq!(outcome.summary.drops.get("queue full").copied().unwrap_or(0), sent - received);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = testbed(25, 60, 0.02, &wharf(5, 2));
    assert_eq!(run(&text).summary.trace_hash, run(&text).summary.trace_hash);
}

#[test]
fn it_runs_beside_afq_and_sqr_on_its_port() {
    let others = "[[mechanism]]\nkind = \"afq\"\nqueues = 22\n[[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw2->sw6\"]\n";
    let outcome = run(&testbed(25, 50, 0.01, &format!("{others}{}", wharf(10, 2))));
    assert!(counter(&outcome, "frames_restored") > 0);
}
