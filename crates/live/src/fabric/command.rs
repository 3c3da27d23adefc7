use std::fmt;
use std::str::FromStr;

use hitless_core::wire::{Duration, Time};
use hitless_scenario::kind::ProtectionOrder;
use hitless_scenario::network::link::LinkState;
use hitless_scenario::network::loss::LossModel;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, Node};
use hitless_simulation::run::Change;
use hitless_switch::LinkEnd;

use super::live::LiveFabric;
use super::points::is_one_here;

/// A command for a live run. As text: `fail sw1<->sw2`, `corrupt sw1->sw2 0.001`, `protect sw1->sw2 2 blocking`.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveCommand {
    /// "a->b", or "a<->b" for commands to both directions.
    pub link: String,
    pub order: Order,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Take the link down in the named directions. If it is down in both directions and the scenario has `[recovery]`,
    /// its ends detect the failure and react to it.
    Fail,
    Repair,
    /// Corrupt frames at this rate, independently or in bursts; 0 ends it.
    Corrupt {
        /// Share of corrupted frames, from 0 to 1.
        rate: f64,
        /// Mean number of frames lost in a row; `None`: independent losses.
        mean_burst_frames: Option<f64>,
    },
    /// Protect the link; its local ends receive the command.
    Protect {
        /// Number of retransmitted copies of each lost packet.
        copies: u8,
        keeps_order: bool,
    },
    Unprotect,
}

impl fmt::Display for LiveCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = &self.link;
        match &self.order {
            Order::Fail => write!(f, "fail {link}"),
            Order::Repair => write!(f, "repair {link}"),
            Order::Corrupt { rate, mean_burst_frames } => {
                write!(f, "corrupt {link} {rate}")?;
                mean_burst_frames.iter().try_for_each(|frames| write!(f, " {frames}"))
            }
            Order::Protect { copies, keeps_order } => {
                let mode = if *keeps_order { "blocking" } else { "non-blocking" };
                write!(f, "protect {link} {copies} {mode}")
            }
            Order::Unprotect => write!(f, "unprotect {link}"),
        }
    }
}

impl FromStr for LiveCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (link, order) = match *words.as_slice() {
            ["fail", link] => (link, Order::Fail),
            ["repair", link] => (link, Order::Repair),
            ["corrupt", link, rate, ref burst @ ..] if burst.len() < 2 => {
                let rate = corruption_rate(rate)?;
                let mean_burst_frames = burst.first().map(|frames| burst_length(frames)).transpose()?;
                (link, Order::Corrupt { rate, mean_burst_frames })
            }
            ["protect", link, copies, mode] => {
                (link, Order::Protect { copies: copy_count(copies)?, keeps_order: keeps_order(mode)? })
            }
            ["unprotect", link] => (link, Order::Unprotect),
            _ => {
                return Err(format!(
                    "'{text}' is no command; known: fail LINK, repair LINK, corrupt LINK RATE [MEAN_BURST_FRAMES], \
                     protect LINK COPIES blocking|non-blocking, unprotect LINK"
                ));
            }
        };
        Ok(Self { link: link.to_owned(), order })
    }
}

fn corruption_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| format!("'{text}' is no rate of corruption: a number from 0 to 1"))
}

fn burst_length(text: &str) -> Result<f64, String> {
    let frames = text.parse().ok().filter(|frames| (1.0..=1e12).contains(frames));
    frames.ok_or_else(|| format!("'{text}' is no mean length of a burst: a number of frames from 1 to 1e12"))
}

fn copy_count(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|&copies| copies > 0).ok_or_else(|| format!("'{text}' is no number of copies: 1 to 255"))
}

fn keeps_order(text: &str) -> Result<bool, String> {
    match text {
        "blocking" => Ok(true),
        "non-blocking" => Ok(false),
        _ => Err(format!("unknown mode '{text}'; it is \"blocking\" or \"non-blocking\"")),
    }
}

impl LiveFabric {
    /// Executes a command, after everything that was already handled.
    ///
    /// # Errors
    /// A sentence, if it cannot be executed; nothing has changed then.
    pub fn command(&mut self, command: &LiveCommand) -> Result<(), String> {
        let at = self.now + Duration(1);
        self.command_at(at, command)
    }

    /// Executes a command at a time that was not handled yet, to play a recording.
    ///
    /// # Errors
    /// As [`Self::command`], and if that time has passed.
    pub fn command_at(&mut self, at: Time, command: &LiveCommand) -> Result<(), String> {
        if at <= self.now {
            return Err(format!(
                "'{command}' came at {} ps, when all up to {} ps was handled",
                at.as_ps(),
                self.now.as_ps()
            ));
        }
        self.handle_until(Time(at.as_ps() - 1));
        let changes = self.changes_of(command)?;
        if let Some(witness) = &mut self.run.edge_mut().witness {
            witness.command(at, &command.to_string());
        }
        changes.into_iter().for_each(|change| self.run.apply(at, change));
        Ok(())
    }

    fn changes_of(&self, LiveCommand { link, order }: &LiveCommand) -> Result<Vec<Change>, String> {
        match *order {
            Order::Fail => Ok(self.run.state_changes(&self.links_here(link)?, LinkState::Down)),
            Order::Repair => Ok(self.run.state_changes(&self.links_here(link)?, LinkState::Up)),
            Order::Corrupt { rate, mean_burst_frames } => {
                let model = LossModel::at_rate(rate, mean_burst_frames)?;
                let links = self.links_here(link)?;
                self.refuse_elsewhere(&links)?;
                Ok(links.into_iter().map(|link| Change::Loss { link, model: model.clone() }).collect())
            }
            Order::Protect { copies, keeps_order } => {
                self.at_both_ends(link, ProtectionOrder::On { copies, keeps_order })
            }
            Order::Unprotect => self.at_both_ends(link, ProtectionOrder::Off),
        }
    }

    /// Returns the directions with this name, if the link has an end here.
    fn links_here(&self, name: &str) -> Result<Vec<DirectedLink>, String> {
        let links = select_links(self.run.topology(), name)?;
        let (from, to) = self.run.topology().ends(links[0]);
        if self.is_here(from.node) || self.is_here(to.node) {
            return Ok(links);
        }
        Err(format!("'{name}' has no end here"))
    }

    /// Refuses links that end at a switch elsewhere, because that switch corrupts their frames.
    fn refuse_elsewhere(&self, links: &[DirectedLink]) -> Result<(), String> {
        let topology = self.run.topology();
        let is_elsewhere = |node: Node| node.is_switch() && !self.is_here(node);
        match links.iter().find(|&&link| is_elsewhere(topology.ends(link).1.node)) {
            Some(&link) => {
                Err(format!("'{}' ends elsewhere: it is corrupted by the switch there", topology.link_name(link)))
            }
            None => Ok(()),
        }
    }

    pub(super) fn is_here(&self, node: Node) -> bool {
        is_one_here(&self.is_here, node)
    }

    fn at_both_ends(&self, name: &str, order: ProtectionOrder) -> Result<Vec<Change>, String> {
        self.links_here(name)?;
        let protection = self.run.protection();
        let directed = protection.directed_link(name)?;
        let (from, to) = self.run.topology().ends(directed);
        let ends = [(LinkEnd::Receiver, to), (LinkEnd::Sender, from)];
        let here = ends.into_iter().filter(|(_, end)| self.is_here(end.node));
        here.map(|(end, _)| protection.command(name, end, order)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_its_text() {
        for order in [
            Order::Fail,
            Order::Repair,
            Order::Corrupt { rate: 1e-3, mean_burst_frames: None },
            Order::Corrupt { rate: 1e-3, mean_burst_frames: Some(2.5) },
            Order::Corrupt { rate: 0.0, mean_burst_frames: None },
            Order::Protect { copies: 2, keeps_order: true },
            Order::Protect { copies: 255, keeps_order: false },
            Order::Unprotect,
        ] {
            let command = LiveCommand { link: "sw1->sw2#1".to_owned(), order };
            assert_eq!(command.to_string().parse(), Ok(command));
        }
        for text in [
            "",
            "fail",
            "corrupt a->b 1.5",
            "corrupt a->b x",
            "corrupt a->b 0.1 0.5",
            "corrupt a->b 0.1 2 3",
            "protect a->b 0 blocking",
            "protect a->b 1 fast",
        ] {
            assert!(text.parse::<LiveCommand>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_no_burst_can_be_is_refused_in_words_that_were_given() {
        assert!(LossModel::at_rate(1.0, None).is_ok());
        assert!(LossModel::at_rate(0.5, Some(4.0)).is_ok());
        let refused = LossModel::at_rate(1.0, Some(4.0)).expect_err("bursts are not all frames");
        assert!(refused.starts_with("a rate of 1 has no bursts"), "{refused}");
        for frames in ["0.5", "1e13", "inf", "NaN"] {
            let refused = format!("corrupt a->b 0.1 {frames}").parse::<LiveCommand>().expect_err("out of bounds");
            assert!(refused.contains("from 1 to 1e12"), "{refused}");
        }
    }
}
