//! Invariants of a compiled program, on which the interpreter relies for its indexing. They hold for every accepted
//! document.

use crate::bits::Slot;
use crate::parser::KEY_BYTES_MAX;
use crate::program::{Instruction, Next, Program, Step, Table};
use crate::tables::KEY_WORDS_MAX;

impl Program {
    /// Panics if an invariant is violated, which is a bug of the compiler; it must show up before the first packet.
    pub(super) fn assert_whole(&self) {
        for header in &self.headers {
            assert!(header.area().end <= self.values_bytes, "the values of a header lie within those of a packet");
            assert!(
                header.fields.end as usize <= self.fields.len(),
                "the fields of a header are fields of the program"
            );
        }
        self.fields.iter().for_each(|field| self.assert_within(field.slot));
        for stack in &self.stacks {
            let count = if stack.of_unions { self.unions.len() } else { self.headers.len() };
            assert!(stack.headers.iter().all(|&of| (of as usize) < count), "a stack has elements that exist");
        }
        for union in &self.unions {
            assert!(
                union.headers.iter().all(|&of| (of as usize) < self.headers.len()),
                "a union has headers that exist"
            );
        }
        assert_eq!(self.instructions.len(), self.places.len(), "each instruction has its place in the source");
        self.assert_actions();
        self.tables.iter().for_each(|table| self.assert_table(table));
        let is_step = |step: &Option<u32>| step.is_none_or(|step| (step as usize) < self.steps.len());
        assert!(is_step(&self.ingress) && is_step(&self.egress), "a control begins with a step of the program");
        for step in &self.steps {
            let is_whole = match step {
                Step::Table(table) => (*table as usize) < self.tables.len(),
                Step::Condition(_, yes, no, name) => {
                    is_step(yes) && is_step(no) && (*name as usize) < self.messages.len()
                }
                Step::Call(action, next) => (*action as usize) < self.actions.len() && is_step(next),
            };
            assert!(is_whole, "a step leads to steps, tables and actions of the program");
        }
        for state in &self.states {
            assert!(state.key_bytes as usize <= KEY_BYTES_MAX, "the key of a parser state has at most 256 bytes");
            let mut next = state.cases.iter().map(|case| case.next).chain([state.otherwise]);
            let is_state = |state: Option<u32>| state.is_none_or(|state| (state as usize) < self.states.len());
            assert!(next.all(is_state), "a parser state leads to states of the program");
        }
    }

    fn assert_within(&self, slot: Slot) {
        let end = slot.bit as usize + slot.width as usize;
        assert!(end <= 8 * self.values_bytes, "a field lies within the values of a packet");
    }

    fn assert_actions(&self) {
        for action in &self.actions {
            let code = action.code.start as usize..action.code.end as usize;
            assert!(code.end <= self.instructions.len(), "the code of an action is of the program");
            for instruction in &self.instructions[code.clone()] {
                match *instruction {
                    Instruction::Jump(to) | Instruction::JumpIfZero(_, to) => {
                        assert!(to as usize <= code.len(), "a jump stays within its action");
                    }
                    Instruction::Assign(slot, _) | Instruction::RegisterRead(slot, ..) => self.assert_within(slot),
                    _ => {}
                }
            }
            let bits = 8 * action.data_bytes;
            let fits = |slot: &Slot| slot.bit + slot.width <= bits;
            assert!(action.parameters.iter().all(|(_, slot)| fits(slot)), "the data of an action has its parameters");
        }
    }

    fn assert_table(&self, table: &Table) {
        let words: usize = table.key.iter().map(crate::program::Key::words).sum();
        assert_eq!(words, table.key_words as usize, "the key of a table has the words of its fields");
        assert!(words <= KEY_WORDS_MAX, "the key of a table has at most 64 words");
        if let Next::ByAction(next, _) = &table.next {
            assert_eq!(next.len(), table.actions.len(), "a table has a next step for each of its actions");
        }
    }
}
