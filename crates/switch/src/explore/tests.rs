use super::*;

/// Of five decisions at most two are faults, each with two alternatives: 1 + 5 x 2 + 10 x 4.
#[test]
fn every_way_is_gone_once() {
    let mut seen = std::collections::BTreeSet::new();
    let explored = explore(2, |choices| {
        for _ in 0..5 {
            choices.fault(3);
        }
        if seen.insert(choices.answers()) { Ok(()) } else { Err("twice".into()) }
    });
    assert_eq!(explored, Explored { ways: 51, decisions: 255, depth: 5, states: 0 });
}

#[test]
#[should_panic(expected = "broken, when it went [0, 1, 0]\n  step 0\n  step 1\n  step 2")]
fn what_is_broken_is_told_with_its_way() {
    explore(1, |choices| {
        let fault = |step| {
            choices.tell(|| format!("step {step}"));
            choices.fault(2)
        };
        let wrong: Vec<usize> = (0..3).map(fault).collect();
        if wrong[1] == 1 { Err("broken".into()) } else { Ok(()) }
    });
}

/// Six steps of length 1 or 2 on a line; the states are the positions. Each position is left once by each step.
#[test]
fn what_follows_a_state_is_gone_through_once() {
    let run = |choices: &Choices, ends: &mut std::collections::BTreeSet<usize>, tells: bool| {
        let mut place = 0;
        for step in 0..6 {
            if tells && choices.visit(|| (step * 100 + place) as u64) != Visit::First {
                return Ok(());
            }
            place += 1 + choices.any(2);
        }
        ends.insert(place);
        Ok(())
    };
    let (mut all, mut told) = (Default::default(), Default::default());
    let every = explore(0, |choices| run(choices, &mut all, false));
    let fewer = explore(0, |choices| run(choices, &mut told, true));
    assert_eq!((every.ways, every.states), (64, 0));
    // After n steps there are n + 1 possible positions.
    assert_eq!((fewer.states, fewer.depth), (1 + 2 + 3 + 4 + 5 + 6, 6));
    assert!(fewer.ways < 32, "{fewer:?}");
    assert_eq!(all, told);
}

/// The state is the same with and without the fault, but a later fault needs one left.
#[test]
fn a_state_with_more_left_to_go_wrong_is_another() {
    let mut late = 0;
    explore(1, |choices| {
        choices.fault(2);
        if choices.visit(|| 7) == Visit::First {
            late += choices.fault(2);
        }
        Ok(())
    });
    assert_eq!(late, 1, "the second fault has been gone through whatever came first");
    late = 0;
    explore(1, |choices| {
        // Here the fault comes first.
        if choices.any(2) == 0 {
            choices.fault(2);
        }
        if choices.visit(|| 7) == Visit::First {
            late += choices.fault(2);
        }
        Ok(())
    });
    assert_eq!(late, 1);
}

#[test]
#[should_panic(expected = "it goes round, when it went [1, 1, 1]\n  place 0\n  place 1\n  place 2")]
fn a_way_that_comes_back_to_a_state_is_known() {
    explore(0, |choices| {
        let mut place = 0;
        loop {
            match choices.visit(|| place) {
                Visit::First => choices.tell(|| format!("place {place}")),
                Visit::Known => return Ok(()),
                Visit::Again => return Err("it goes round".into()),
            }
            match choices.any(2) {
                0 => return Ok(()),
                _ => place = (place + 1) % 3,
            }
        }
    });
}
