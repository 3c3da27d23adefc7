//! A run resumed from a checkpoint gives the same bytes as an uninterrupted run.

use std::path::Path;

use hitless_core::engine::Progress;
use hitless_core::wire::Time;
use hitless_scenario::Scenario;
use hitless_simulation::checkpoint::Refusal;
use hitless_simulation::{Outcome, Resumable};

use crate::losses;
use crate::support::{self, simulation};

const PROGRAM: &str = "this build";

fn example(name: &str) -> Scenario {
    support::sound(support::example(name))
}

fn resumable(scenario: &Scenario) -> Resumable {
    Resumable::new(simulation(scenario), PROGRAM).expect("all that changes in it is saved")
}

fn same(found: &Outcome, expected: &Outcome, what: &str) {
    let summary = |outcome: &Outcome| serde_json::to_value(&outcome.summary).expect("a summary is JSON");
    assert_eq!(summary(found), summary(expected), "{what}");
    assert_eq!(found.violations, expected.violations, "{what}");
    for (found, expected) in found.tables.iter().zip(&expected.tables) {
        assert_eq!(found, expected, "{what}");
    }
    assert!(found.captures == expected.captures, "captures {what}");
}

/// Checkpoints the run at these fractions, and resumes each time in a newly built simulation.
pub fn goes_on(scenario: &Scenario, shares: &[f64]) {
    let expected = simulation(scenario).run(&Progress::default());
    let mut at_work = resumable(scenario);
    at_work.start();
    for share in shares {
        let at = Time((expected.summary.simulated_s * share * 1e12) as u64);
        assert!(at_work.advance(at), "the run ends at {} s", expected.summary.simulated_s);
        let bytes = at_work.checkpoint();
        at_work = resumable(scenario);
        at_work.restore(&bytes).expect("the checkpoint is sound");
        assert!(at_work.checkpoint() == bytes, "what was loaded at {share} is not what was saved");
    }
    let found = at_work.run(None, &Progress::default(), |_| Ok(())).expect("nobody stops it");
    same(&found, &expected, "after going on");
}

#[test]
fn examples_go_on_from_a_checkpoint() {
    for name in ["dumbbell", "bench-c"] {
        goes_on(&example(name), &[0.0, 0.01, 0.3, 0.31, 0.9]);
    }
}

#[test]
fn a_period_of_losses_goes_on_from_a_checkpoint() {
    let text = losses::text("loss = { kind = \"periodic\", every = 1000, first = 10 }");
    goes_on(&support::sound(&text.replace("40 ms", "1 ms")), &[0.0, 0.3, 0.9]);
}

/// SQR in P4: registers, metadata waiting between ingress and egress, timers, and a failing link.
#[test]
fn p4_programs_go_on_from_a_checkpoint() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../p4/sqr");
    let commands = Path::new(env!("CARGO_TARGET_TMPDIR")).join("checkpoint-of-sqr.txt");
    let delays = "12000 40000 15000 20000";
    let lines = format!(
        "table_add ingress.ways.watched ingress.ways.follow 2 =>\n\
         table_add egress.protected egress.mark 2 0&&&0 => 1\n\
         table_set_default ingress.ways.settings.delays ingress.ways.settings.set_delays {delays}\n\
         table_set_default egress.settings.delays egress.settings.set_delays {delays}\n"
    );
    std::fs::write(&commands, lines).expect("the folder for tests takes a file");
    let fabric = support::leaf_spine([2, 2, 2], [10, 10]);
    let text = format!(
        "name = \"in-p4\"\nduration = \"2 ms\"\n{fabric}\
         [switch]\npreset = \"ideal\"\ningress_latency = \"300 ns\"\nmirror_latency = \"300 ns\"\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\", \"h1\"]\n\
         destinations = [\"h2\", \"h3\"]\n\
         [recovery]\ndetection = {{ kind = \"fixed\", delay = \"30 us\" }}\nscheme = {{ kind = \"local-reroute\" }}\n\
         [[failure]]\nlink = \"leaf0<->spine0\"\nfirst = \"300 us\"\noutage = \"500 us\"\n\
         [[mechanism]]\nkind = \"p4\"\nswitches = [\"leaf0\"]\nprogram = {:?}\ncommands = {:?}\n\
         [[mechanism.queue]]\nports = [\"leaf0\"]\n[[mechanism.queue]]\nports = [\"leaf0->spine0\"]\n",
        folder.join("sqr.json").display().to_string(),
        commands.display().to_string()
    );
    let scenario = support::sound(&text);
    goes_on(&scenario, &[0.05, 0.152, 0.17, 0.3, 0.41, 0.7]);
}

#[test]
fn checkpoints_come_as_often_as_asked_and_change_nothing() {
    let scenario = example("dumbbell");
    let expected = simulation(&scenario).run(&Progress::default());
    let every = hitless_core::wire::Duration((expected.summary.simulated_s * 1e12) as u64 / 10);
    let mut kept = Vec::new();
    let mut run = resumable(&scenario);
    run.start();
    let found = run.run(Some(every), &Progress::default(), |bytes| {
        kept.push(bytes);
        Ok(())
    });
    same(&found.expect("nobody stops it"), &expected, "with checkpoints");
    assert!((9..=11).contains(&kept.len()), "{} checkpoints", kept.len());
    let mut again = resumable(&scenario);
    again.restore(&kept[6]).expect("the checkpoint is sound");
    let mut later = Vec::new();
    let found = again.run(Some(every), &Progress::default(), |bytes| {
        later.push(bytes);
        Ok(())
    });
    same(&found.expect("nobody stops it"), &expected, "from the seventh checkpoint");
    assert!(later == kept[7..], "a run that goes on writes the checkpoints that the first one wrote");
}

#[test]
fn a_run_stops_where_its_checkpoint_cannot_be_kept() {
    let mut run = resumable(&example("dumbbell"));
    run.start();
    let every = Some(hitless_core::wire::Duration::from_us(100));
    let stopped = run.run(every, &Progress::default(), |_| Err("the disk is full".into()));
    assert_eq!(stopped.err().as_deref(), Some("the disk is full"));
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let scenario = example("dumbbell");
    let mut run = resumable(&scenario);
    run.start();
    assert!(run.advance(Time(1_000_000)));
    let bytes = run.checkpoint();
    let refusal = |scenario: &Scenario, program: &str, bytes: &[u8]| {
        Resumable::new(simulation(scenario), program)
            .expect("all is saved")
            .restore(bytes)
            .expect_err("it is of another")
    };
    let message = refusal(&scenario, "a later build", &bytes).to_string();
    assert_eq!(message, "the checkpoint was written by hitless this build, and this is hitless a later build");
    let other_seed = Scenario { seed: 77, ..scenario.clone() };
    let message = refusal(&other_seed, PROGRAM, &bytes).to_string();
    assert_eq!(message, "the checkpoint is of a run with seed 1, and this one has seed 77");
    let longer = Scenario { warmup: Time(5_000_000), ..scenario.clone() };
    let message = refusal(&longer, PROGRAM, &bytes).to_string();
    assert!(message.contains("another scenario") && message.contains("warmup"), "{message}");
    for cut in [0, 7, 30, bytes.len() / 2, bytes.len() - 1] {
        assert!(matches!(refusal(&scenario, PROGRAM, &bytes[..cut]), Refusal::Damaged(_)), "{cut}");
    }
    for at in (0..bytes.len()).step_by(bytes.len() / 100) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        let refusal = refusal(&scenario, PROGRAM, &damaged);
        assert!(matches!(refusal, Refusal::Damaged(_)), "{at} of {}: {refusal}", bytes.len());
    }
}

/// Recomputes the digest of a checkpoint, so that damage gets past it.
fn resealed(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.len() - 8);
    let digest = bytes.chunks(8).fold(bytes.len() as u64, |state, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let mixed = (state ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 32
    });
    bytes.extend(digest.to_le_bytes());
    bytes
}

#[test]
fn damage_behind_the_digest_is_loaded_or_refused_and_never_more() {
    let scenario = example("linkguardian-testbed");
    let mut run = resumable(&scenario);
    run.start();
    assert!(run.advance(Time(400_000_000)));
    let bytes = run.checkpoint();
    assert!(resealed(bytes.clone()) == bytes, "this is the digest");
    let mut stream = hitless_core::engine::RandomStreams::new(1).stream("damage");
    let mut below = |count: usize| hitless_core::engine::draws::below(&mut stream, count);
    let mut refused = 0;
    for _ in 0..400 {
        let mut damaged = bytes.clone();
        let at = below(bytes.len() - 8);
        match below(4) {
            // Numbers that are far too large, for example as counts of elements.
            0 => damaged[at..bytes.len().min(at + 8)].fill(0xff),
            1 => damaged.truncate(at + 9),
            _ => damaged[at] ^= 1 << below(8),
        }
        refused += u32::from(resumable(&scenario).restore(&resealed(damaged)).is_err());
    }
    assert!((100..400).contains(&refused), "{refused} of 400 refused");
}
