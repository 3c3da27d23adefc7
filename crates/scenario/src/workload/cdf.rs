//! Empirical flow-size distributions: the built-in tables, their format, and sampling.
//!
//! A table is text: comment lines `# source: ...`, `# note: ...`, `# columns: ...`, then lines `bytes probability`,
//! with the probability that a flow has at most that size. The distribution is linear between two points, as in the
//! simulators that published these tables.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::unit;
use hitless_core::settings::{LineError, without_byte_order_mark};

/// A cumulative distribution of flow sizes, linear between its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    pub source: String,
    /// Remarks about it.
    pub note: String,
    /// Size in bytes and probability of at most that size; both never decrease, and the last probability is 1.
    points: Vec<(f64, f64)>,
}

macro_rules! embedded_tables {
    ($($name:literal),* $(,)?) => {
        /// The built-in tables: name and text.
        pub const TABLES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../../data/cdf/", $name, ".txt")))),*];
    };
}

embedded_tables!(
    "alibaba_storage2019_hpcc",
    "cachefollower_aeolus_style_conweave",
    "datamining_vl2_pias",
    "enterprise_conga_numfabric",
    "facebook_cachefollower_intracluster_homa",
    "facebook_hadoop_hpcc",
    "facebook_keyvalue_sampled_homa",
    "facebook_webserver_intracluster_homa",
    "google_allrpc_homa",
    "google_searchrpc_homa",
    "websearch_dctcp_hpcc",
    "websearch_dctcp_pias",
);

impl Cdf {
    /// Finds the table called `name` among [`TABLES`].
    pub fn named(name: &str) -> Option<Self> {
        let (_, text) = TABLES.iter().find(|(known, _)| *known == name)?;
        Self::parse(text).ok()
    }

    /// Parses a table.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let mut cdf = Self { source: String::new(), note: String::new(), points: Vec::new() };
        for (number, line) in (1..).zip(without_byte_order_mark(text).lines()) {
            cdf.read_line(line.trim()).map_err(|rule| LineError { line: number, rule })?;
        }
        match cdf.points.last() {
            Some((_, 1.0)) => Ok(cdf),
            Some(_) => Err(LineError { line: 0, rule: "the last probability must be 1".into() }),
            None => Err(LineError { line: 0, rule: "a table needs at least one line `bytes probability`".into() }),
        }
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        if let Some(comment) = line.strip_prefix('#') {
            self.read_comment(comment.trim());
            return Ok(());
        }
        if line.is_empty() {
            return Ok(());
        }
        let point = read_point(line)?;
        let falls = |&(bytes, probability): &(f64, f64)| point.0 < bytes || point.1 < probability;
        if self.points.last().is_some_and(falls) {
            return Err("neither bytes nor probability may decrease from line to line".into());
        }
        self.points.push(point);
        Ok(())
    }

    fn read_comment(&mut self, comment: &str) {
        if let Some(source) = comment.strip_prefix("source:") {
            self.source = source.trim().to_string();
        } else if let Some(note) = comment.strip_prefix("note:") {
            self.note = note.trim().to_string();
        }
    }

    /// Returns the mean in bytes of the sizes that [`Self::sample`] draws (before rounding to whole bytes).
    pub fn mean_linear(&self) -> f64 {
        let (first_bytes, first_probability) = self.points[0];
        let parts = self.points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
        first_bytes * first_probability + parts.sum::<f64>()
    }

    /// Returns the minimum and maximum size in bytes.
    pub fn range(&self) -> (f64, f64) {
        (self.points[0].0, self.points[self.points.len() - 1].0)
    }

    /// Returns the points between which the distribution is linear: a size in bytes, and the share of flows up to that
    /// size.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Returns the size that a share of `probability` (0 to 1) of all flows does not exceed.
    pub fn quantile(&self, probability: f64) -> f64 {
        let upper = self.points.partition_point(|point| point.1 < probability).min(self.points.len() - 1);
        let (bytes, reached) = self.points[upper];
        let Some(&(bytes_before, reached_before)) = upper.checked_sub(1).map(|lower| &self.points[lower]) else {
            return bytes;
        };
        if reached <= reached_before {
            return bytes;
        }
        bytes_before + (bytes - bytes_before) * ((probability - reached_before) / (reached - reached_before)).min(1.0)
    }

    /// Returns the share of flows of at most `bytes`.
    pub fn share_up_to(&self, bytes: f64) -> f64 {
        let above = self.points.partition_point(|point| point.0 <= bytes);
        let Some(lower) = above.checked_sub(1) else { return 0.0 };
        let (from, reached) = self.points[lower];
        match self.points.get(above) {
            Some(&(to, next)) => reached + (next - reached) * (bytes - from) / (to - from),
            None => 1.0,
        }
    }

    /// Returns the distribution of the flows of at most `largest` bytes; `None` for an empty distribution.
    pub fn up_to(&self, largest: f64) -> Option<Self> {
        let share = self.share_up_to(largest);
        if share <= 0.0 {
            return None;
        }
        // At a step exactly at the cut, the lower point is kept although its size equals the cut.
        let is_below = |point: &&(f64, f64)| point.0 < largest || (point.0 <= largest && point.1 < share);
        let kept = self.points.iter().filter(is_below).map(|&(bytes, reached)| (bytes, reached / share));
        let end = largest.min(self.range().1);
        let points = kept.chain([(end, 1.0)]).collect();
        Some(Self { source: self.source.clone(), note: self.note.clone(), points })
    }

    /// Draws a size in bytes by inversion; at least 1, since a flow without bytes is not a flow.
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        (self.quantile(unit(stream)).round() as u64).max(1)
    }
}

fn read_point(line: &str) -> Result<(f64, f64), String> {
    let mut words = line.split_whitespace();
    let (Some(bytes), Some(probability), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("must be `bytes probability`, not '{line}'"));
    };
    let bytes = bytes.parse().ok().filter(|bytes| (0.0..=1e15).contains(bytes));
    let probability = probability.parse().ok().filter(|probability| (0.0..=1.0).contains(probability));
    match (bytes, probability) {
        (None, _) => Err("bytes must be a number from 0 to 1e15".into()),
        (_, None) => Err("probability must be a number from 0 to 1".into()),
        (Some(bytes), Some(probability)) => Ok((bytes, probability)),
    }
}

#[cfg(test)]
mod tests;
