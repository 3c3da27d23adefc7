//! A user's table of LinkGuardian's effect.
//!
//! ```text
//! gbps,loss_rate,effective_loss_rate,speed_percent
//! 400,1e-5,1e-10,99.8
//! 400,1e-3,1e-9,97.8
//! ```
//!
//! Rows with the same rate are adjacent, with ascending loss rates. Between two rows both values are linear in the loss
//! rate. Below the first row the speed is the first row's, and the effective loss rate falls in proportion to the loss
//! rate. Above the last row, and at rates without rows, the effect is unknown.

use hitless_core::wire::BitRate;

use crate::Problem;
use crate::topology::rate_of;

const HEADER: &str = "gbps,loss_rate,effective_loss_rate,speed_percent";
const HINT: &str = "four numbers, as in: 400,1e-3,1e-9,97.8";

#[derive(Clone, Copy, Debug)]
struct Row {
    rate: BitRate,
    loss: f64,
    effective: f64,
    /// A share of the rate.
    speed: f64,
}

/// Measurements by rate and loss rate.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Row>,
    file_name: String,
}

impl Table {
    /// Parses a table; `file_name` is for messages.
    pub fn from_text(text: &str, file_name: &str) -> Result<Self, Problem> {
        let refused = |what, line| Problem::in_line(what, file_name, line).hint(HINT);
        let mut lines = (1..).zip(text.trim_end().lines());
        if lines.next().is_none_or(|(_, header)| header.replace(' ', "") != HEADER) {
            return Err(refused(format!("the first line is {HEADER}"), 1));
        }
        let mut rows: Vec<Row> = Vec::new();
        for (number, line) in lines {
            let row = read_row(line).and_then(|row| follow(&rows, row));
            rows.push(row.map_err(|what| refused(what, number))?);
        }
        match rows.is_empty() {
            true => Err(refused("the table is empty".into(), 1)),
            false => Ok(Self { rows, file_name: file_name.into() }),
        }
    }

    /// Returns the effective loss rate, and the speed as a share of the rate.
    pub(super) fn at(&self, rate: BitRate, loss: f64) -> Result<(f64, f64), Problem> {
        let refused = |what| Problem::new(what, &*self.file_name).hint("add rows, or use another topology or trace");
        let rows: Vec<_> = self.rows.iter().filter(|row| row.rate == rate).collect();
        let first = rows.first().ok_or_else(|| refused(format!("the table lacks links of {rate}")))?;
        let after = rows.iter().position(|row| loss <= row.loss).ok_or_else(|| {
            let most = rows[rows.len() - 1].loss;
            refused(format!("a link of {rate} has a loss rate of {loss:e}, and the table ends at {most:e}"))
        })?;
        let origin = Row { loss: 0.0, effective: 0.0, ..**first };
        let (before, after) = (after.checked_sub(1).map_or(&origin, |before| rows[before]), rows[after]);
        let share = (loss - before.loss) / (after.loss - before.loss);
        let between = |low: f64, high: f64| low + (high - low) * share;
        Ok((between(before.effective, after.effective), between(before.speed, after.speed)))
    }
}

fn read_row(line: &str) -> Result<Row, String> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [gbps, loss, effective, speed] = fields[..] else {
        return Err(format!("a row has 4 columns, and this line has {}", fields.len()));
    };
    let read = |name: &str, text: &str, most: f64| {
        let number = text.parse().ok().filter(|&number: &f64| number > 0.0 && number <= most);
        number.ok_or_else(|| format!("{name} is {text:?}, not a number above 0 and at most {most}"))
    };
    let gbps = read("gbps", gbps, 1e6)?;
    let rate = rate_of(gbps).ok_or_else(|| format!("gbps is {gbps}, less than one bit per second"))?;
    let loss = read("loss_rate", loss, 1.0)?;
    // Runs without a loss only give an upper limit, so 0 is refused too.
    let effective = read("effective_loss_rate", effective, loss)?;
    Ok(Row { rate, loss, effective, speed: read("speed_percent", speed, 100.0)? / 100.0 })
}

/// Checks the order of `row` after `rows`.
fn follow(rows: &[Row], row: Row) -> Result<Row, String> {
    match rows.iter().rposition(|earlier| earlier.rate == row.rate) {
        Some(at) if at + 1 < rows.len() => Err(format!("rows of {} stand apart", row.rate)),
        Some(at) if rows[at].loss >= row.loss => {
            Err(format!("loss_rate is {:e}, and must be above {:e} in the line before", row.loss, rows[at].loss))
        }
        _ => Ok(row),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ROWS: &str = "25,1e-3,1e-9,99\n400,1e-5,1e-10,99.5\n400,1e-3,2e-9,97.5\n";

    fn table(rows: &str) -> Result<Table, Problem> {
        Table::from_text(&format!("{HEADER}\n{rows}"), "f")
    }

    #[test]
    fn values_lie_between_those_of_two_rows() {
        let table = table(ROWS).unwrap();
        for (gbps, loss, effective, speed) in [
            (400, 1e-3, 2e-9, 0.975),
            (400, 1e-5, 1e-10, 0.995),
            (400, 5.05e-4, 1.05e-9, 0.985),
            (400, 1e-6, 1e-11, 0.995),
            (25, 5e-4, 5e-10, 0.99),
        ] {
            let (found, share) = table.at(BitRate::from_gbps(gbps), loss).unwrap();
            assert!((found / effective - 1.0).abs() < 1e-9 && (share - speed).abs() < 1e-9, "{gbps}, {loss}: {found}");
        }
    }

    #[test]
    fn an_effect_beyond_the_table_is_unknown() {
        let table = table(ROWS).unwrap();
        for (gbps, loss, part) in [(40, 1e-4, "lacks links of 40 Gb/s"), (400, 1.1e-3, "the table ends at 1e-3")] {
            let problem = table.at(BitRate::from_gbps(gbps), loss).unwrap_err();
            assert!(problem.what.contains(part) && problem.place == "f" && !problem.hint.is_empty(), "{problem}");
        }
    }

    #[test]
    fn a_problem_has_its_line_and_a_rule() {
        let cases = [
            ("", "f:1", "empty"),
            ("400,1e-3,1e-9", "f:2", "this line has 3"),
            ("400,1e-3,1e-9,99\n\n400,1e-2,1e-9,99", "f:3", "this line has 1"),
            ("0,1e-3,1e-9,99", "f:2", "gbps is \"0\""),
            ("1e-10,1e-3,1e-9,99", "f:2", "less than one bit"),
            ("400,2,1e-9,99", "f:2", "loss_rate is \"2\", not a number above 0 and at most 1"),
            ("400,1e-3,0,99", "f:2", "effective_loss_rate is \"0\""),
            ("400,1e-3,2e-3,99", "f:2", "effective_loss_rate is \"2e-3\", not a number above 0 and at most 0.001"),
            ("400,1e-3,1e-9,100.1", "f:2", "speed_percent"),
            ("400,1e-3,1e-9,NaN", "f:2", "speed_percent"),
            ("400,1e-3,1e-9,99\n400,1e-3,1e-9,99", "f:3", "must be above 1e-3"),
            ("400,1e-3,1e-9,99\n25,1e-3,1e-9,99\n400,1e-2,1e-9,99", "f:4", "rows of 400 Gb/s stand apart"),
        ];
        for (rows, place, part) in cases {
            let problem = table(rows).unwrap_err();
            assert_eq!(problem.place, place, "{rows:?}: {problem}");
            assert!(problem.what.contains(part) && !problem.hint.is_empty(), "{rows:?}: {problem}");
        }
        assert_eq!(Table::from_text("loss_rate,gbps\n", "f").unwrap_err().place, "f:1");
    }

    proptest! {
        #[test]
        fn an_effective_loss_rate_is_at_most_the_loss_rate(
            mut rows in prop::collection::vec((1e-9f64..1.0, 0.0f64..1.0, 1.0f64..100.0), 1..6),
            at in 0.0f64..=1.0,
        ) {
            rows.sort_by(|one, other| one.0.total_cmp(&other.0));
            rows.dedup_by_key(|row| row.0);
            let line = |(loss, share, speed): &(f64, f64, f64)| format!("10,{loss},{},{speed}\n", loss * (1.0 - share));
            let table = table(&rows.iter().map(line).collect::<String>()).unwrap();
            let loss = at * rows[rows.len() - 1].0;
            let (effective, speed) = table.at(BitRate::from_gbps(10), loss).unwrap();
            prop_assert!(effective <= loss * (1.0 + 1e-9) && speed <= 1.0);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>(), rows in "([0-9e.,-]{0,12}\n){0,4}") {
            let _ = Table::from_text(&text, "f");
            let _ = table(&rows);
        }
    }
}
