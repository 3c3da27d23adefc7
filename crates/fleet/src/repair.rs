//! Durations of repairs: drawn, or replayed from a file.

use hitless_core::engine::draws::below;
use hitless_core::engine::{RandomStreams, Stream};

use crate::Problem;
use crate::topology::LinkId;
use crate::trace::LATEST_S;

const DAY_S: u64 = 24 * 3_600;
/// Durations of a repair that succeeds at once (80 %), and of a repeated repair (CorrOpt, section 7.1).
const SHORT_S: u64 = 2 * DAY_S;
const LONG_S: u64 = 4 * DAY_S;
const SHORT_OF_TEN: usize = 8;
/// Mean duration, in seconds.
pub const MEAN_S: f64 = (SHORT_S as f64 * SHORT_OF_TEN as f64 + LONG_S as f64 * (10 - SHORT_OF_TEN) as f64) / 10.0;
/// Maximum duration: a thousand years. Longer ones are typing errors.
const DELAY_MAX_S: u64 = 365 * 1_000 * DAY_S;

const HEADER: [&str; 4] = ["sequence", "disable_time_s", "link", "delay_s"];
const HINT: &str =
    "tab-separated columns sequence (from 0), disable_time_s, link, delay_s, as hitless fleet run writes them";

/// Returns the expected remaining time of a repair that has already taken `taken_s`.
pub fn expected_left_s(taken_s: u64) -> f64 {
    // CorrOpt has two durations, so a repair that outlasts the short one is a long one.
    let whole_s = if taken_s < SHORT_S { MEAN_S } else { LONG_S as f64 };
    (whole_s - taken_s as f64).max(0.0)
}

/// A link that was taken down, and the duration of its repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Time at which it was taken down, in seconds.
    pub disable_time_s: u64,
    pub link: LinkId,
    /// Time until its return.
    pub delay_s: u64,
}

#[derive(Debug)]
pub enum Delays<'r> {
    Fixed(u64),
    /// 2 days with probability 0.8, else 4 days, in the order of taking down.
    Drawn(Box<Stream>),
    /// From a file, in its order.
    Replayed {
        repairs: &'r [Repair],
        file_name: &'r str,
    },
}

impl<'r> Delays<'r> {
    /// The fixed duration of the policy that takes down every corrupting link.
    pub const LONG: Delays<'static> = Delays::Fixed(LONG_S);

    /// Draws durations from a separate random stream.
    pub fn drawn(seed: u64) -> Self {
        Self::Drawn(Box::new(RandomStreams::new(seed).stream("repairs")))
    }

    /// Returns the repairs of links that go down together, in ascending order of their numbers unless a file has
    /// another order.
    ///
    /// `sequence` is the number of links that went down before. An error if the file contains other links or times.
    pub fn take(&mut self, time_s: u64, links: &[LinkId], sequence: usize) -> Result<Vec<Repair>, Problem> {
        let with = |delay_s| move |&link: &LinkId| Repair { disable_time_s: time_s, link, delay_s };
        match self {
            Self::Fixed(delay_s) => Ok(links.iter().map(with(*delay_s)).collect()),
            Self::Drawn(stream) => Ok(links.iter().map(|link| with(draw(stream))(link)).collect()),
            Self::Replayed { repairs, file_name } => replay(repairs, file_name, time_s, links, sequence),
        }
    }

    /// Reports an error if a file contains more repairs than the `taken` of the whole run.
    pub fn check_used_up(&self, taken: usize) -> Result<(), Problem> {
        let Self::Replayed { repairs, file_name } = self else { return Ok(()) };
        let Some(Repair { disable_time_s, link, .. }) = repairs.get(taken) else { return Ok(()) };
        let what = format!(
            "the run takes down {taken} links, and the file goes on with link {} at {disable_time_s} s",
            link.0
        );
        Err(other_run(what, file_name, taken))
    }
}

fn draw(stream: &mut Stream) -> u64 {
    if below(stream, 10) < SHORT_OF_TEN { SHORT_S } else { LONG_S }
}

fn replay(all: &[Repair], file: &str, time_s: u64, links: &[LinkId], sequence: usize) -> Result<Vec<Repair>, Problem> {
    let told = all.get(sequence..).unwrap_or_default();
    let told = &told[..links.len().min(told.len())];
    let mut expected: Vec<_> = told.iter().map(|repair| repair.link).collect();
    expected.sort_unstable();
    let is_same = expected == links && told.iter().all(|repair| repair.disable_time_s == time_s);
    if is_same {
        return Ok(told.to_vec());
    }
    let names: Vec<_> = links.iter().map(|link| link.0.to_string()).collect();
    let found = match told.first() {
        Some(repair) => format!("the file has link {} at {} s", repair.link.0, repair.disable_time_s),
        None => "the file ends before it".into(),
    };
    let what = format!("the run takes down link {} at {time_s} s, and {found}", names.join(", "));
    Err(other_run(what, file, sequence))
}

/// Reports that the line of the repair with this number belongs to another run.
fn other_run(what: String, file: &str, sequence: usize) -> Problem {
    Problem::in_line(what, file, sequence + 2).hint("topology, trace, policy and capacity must be those of the file")
}

/// Parses a file of repairs; `file_name` is for messages.
pub fn from_text(text: &str, file_name: &str) -> Result<Vec<Repair>, Problem> {
    // Blank lines are only allowed at the end, because the line of each repair follows from its number.
    let mut lines = text.trim_end().lines().zip(1..);
    let header: Vec<_> = lines.next().map(|(line, _)| line.split('\t').map(str::trim).collect()).unwrap_or_default();
    if header != HEADER {
        let what = format!("the first line names the columns {}", HEADER.join(", "));
        return Err(Problem::in_line(what, file_name, 1).hint(HINT));
    }
    let refused = |what, number| Problem::in_line(what, file_name, number).hint(HINT);
    lines.enumerate().map(|(row, (line, number))| read_row(line, row).map_err(|what| refused(what, number))).collect()
}

fn read_row(line: &str, row: usize) -> Result<Repair, String> {
    let fields: Vec<_> = line.split('\t').map(str::trim).collect();
    let [sequence, disable_time_s, link, delay_s] = fields[..] else {
        return Err(format!("a repair has {} columns, and this line has {}", HEADER.len(), fields.len()));
    };
    let read = |column: usize, text: &str, most: u64| {
        let value = text.parse().ok().filter(|&value: &u64| value <= most);
        value.ok_or_else(|| format!("{} is {text:?}, not a whole number of 0 to {most}", HEADER[column]))
    };
    let sequence = read(0, sequence, u64::MAX)?;
    if sequence != row as u64 {
        return Err(format!("sequence {sequence} stands where {row} is expected"));
    }
    let delay_s = read(3, delay_s, DELAY_MAX_S)?;
    let link = LinkId(read(2, link, u64::from(u32::MAX))? as u32);
    Ok(Repair { disable_time_s: read(1, disable_time_s, LATEST_S * 2)?, link, delay_s })
}

/// Writes repairs in the format of [`from_text`].
pub fn to_text(repairs: &[Repair]) -> String {
    let mut text = HEADER.join("\t") + "\n";
    for (sequence, repair) in repairs.iter().enumerate() {
        let Repair { disable_time_s, link, delay_s } = repair;
        text.push_str(&format!("{sequence}\t{disable_time_s}\t{}\t{delay_s}\n", link.0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILE: &str = "sequence\tdisable_time_s\tlink\tdelay_s\n0\t10\t3\t172800\n1\t10\t2\t345600\n";

    #[test]
    fn links_that_go_down_together_are_repaired_in_the_order_of_the_file() {
        let repairs = from_text(FILE, "f").unwrap();
        let mut delays = Delays::Replayed { repairs: &repairs, file_name: "f" };
        let taken = delays.take(10, &[LinkId(2), LinkId(3)], 0).unwrap();
        assert_eq!(taken.iter().map(|repair| repair.link.0).collect::<Vec<_>>(), [3, 2]);
    }

    #[test]
    fn a_run_that_is_another_than_the_file_s_is_told_where() {
        let repairs = from_text(FILE, "f").unwrap();
        for (time_s, link, sequence, place) in [(10, 7, 0, "f:2"), (11, 3, 0, "f:2"), (10, 2, 2, "f:4")] {
            let mut delays = Delays::Replayed { repairs: &repairs, file_name: "f" };
            let problem = delays.take(time_s, &[LinkId(link)], sequence).unwrap_err();
            assert_eq!(problem.place, place, "{problem}");
        }
    }

    #[test]
    fn a_file_that_goes_on_after_the_run_is_told_where() {
        let repairs = from_text(FILE, "f").unwrap();
        let delays = Delays::Replayed { repairs: &repairs, file_name: "f" };
        assert_eq!(delays.check_used_up(2), Ok(()));
        for (taken, place, part) in [(0, "f:2", "link 3 at 10 s"), (1, "f:3", "link 2 at 10 s")] {
            let problem = delays.check_used_up(taken).unwrap_err();
            assert!(problem.place == place && problem.what.contains(part), "{problem}");
        }
    }

    #[test]
    fn four_of_five_repairs_succeed_at_once() {
        let mut delays = Delays::drawn(1);
        let links: Vec<_> = (0..50_000).map(LinkId).collect();
        let taken = delays.take(0, &links, 0).unwrap();
        let short = taken.iter().filter(|repair| repair.delay_s == SHORT_S).count() as f64 / 50_000.0;
        assert!((short - 0.8).abs() < 0.01, "{short}");
    }

    #[test]
    fn a_problem_has_its_line_and_a_hint() {
        let cases = [
            ("", "f:1", "columns"),
            ("0\t1\t2\t3", "f:1", "columns"),
            ("sequence\tdisable_time_s\tlink\tdelay_s\n0\t1\t2", "f:2", "this line has 3"),
            ("sequence\tdisable_time_s\tlink\tdelay_s\n\n0\t1\t2\t3", "f:2", "this line has 1"),
            ("sequence\tdisable_time_s\tlink\tdelay_s\n1\t1\t2\t3\n\n", "f:2", "where 0"),
            ("sequence\tdisable_time_s\tlink\tdelay_s\n0\t1\tx\t3", "f:2", "link is \"x\""),
        ];
        for (text, place, part) in cases {
            let problem = from_text(text, "f").unwrap_err();
            assert_eq!(problem.place, place, "{text:?}: {problem}");
            assert!(problem.what.contains(part) && !problem.hint.is_empty(), "{text:?}: {problem}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(rows in prop::collection::vec((0u64..1 << 40, any::<u32>(), 0u64..1 << 30), 0..40)) {
            let repair = |(disable_time_s, link, delay_s)| Repair { disable_time_s, link: LinkId(link), delay_s };
            let repairs: Vec<_> = rows.into_iter().map(repair).collect();
            prop_assert_eq!(from_text(&to_text(&repairs), "f").unwrap(), repairs);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = from_text(&text, "f");
            let _ = from_text(&format!("{}\n{text}", HEADER.join("\t")), "f");
        }
    }
}
