use std::io::{self, BufRead, BufReader, Read};

use hitless_core::wire::{PortId, QueueId, Time};

use super::format::{Header, MAGIC, hash, tag};
use crate::fabric::{Action, Decision};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Record {
    Arrival { at: Time, point: u16, bytes: Vec<u8> },
    Command { at: Time, text: String },
    Decision(Decision),
    Refusal { at: Time, point: u16 },
    End { at: Time },
}

pub(super) struct Reader<R> {
    input: BufReader<R>,
    last: Time,
}

/// Maximum length of a frame, header or command.
const LENGTH_MAX: u64 = 1 << 24;

impl<R: Read> Reader<R> {
    /// Reads the header.
    pub fn new(input: R) -> io::Result<(Self, Header)> {
        let mut reader = Self { input: BufReader::new(input), last: Time::ZERO };
        let mut magic = [0; MAGIC.len()];
        reader.input.read_exact(&mut magic).map_err(|_| invalid("this is no recording of a live run"))?;
        if magic != MAGIC {
            return Err(invalid("this is no recording of a live run, or one of another version"));
        }
        let length = reader.length()?;
        let header = reader.bytes(length)?;
        let header = serde_json::from_slice(&header).map_err(|error| invalid(&format!("its header: {error}")))?;
        Ok((reader, header))
    }

    /// Reads the next record; `None` at the end of the file, even within a record.
    pub fn next(&mut self) -> io::Result<Option<Record>> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(None);
        }
        match self.record() {
            Ok(record) => Ok(Some(record)),
            // An incomplete record left by a crash.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn record(&mut self) -> io::Result<Record> {
        let tag = self.byte()?;
        let at = Time(self.last.as_ps().saturating_add(self.number()?));
        self.last = at;
        match tag {
            tag::ARRIVAL => self.arrival(at),
            tag::COMMAND => {
                let length = self.length()?;
                let text = String::from_utf8(self.bytes(length)?).map_err(|_| invalid("a command is no text"))?;
                Ok(Record::Command { at, text })
            }
            tag::DECISION => self.decision(at),
            tag::REFUSAL => Ok(Record::Refusal { at, point: self.small("point")? }),
            tag::END => self.byte().map(|_| Record::End { at }),
            other => Err(invalid(&format!("there is no record of kind {other}"))),
        }
    }

    fn arrival(&mut self, at: Time) -> io::Result<Record> {
        let point = self.small("point")?;
        let (length, kept) = (self.length()?, self.length()?);
        if kept > length {
            return Err(invalid("more of a frame is kept than it has"));
        }
        let mut bytes = self.bytes(kept)?;
        if kept < length {
            self.bytes(size_of_val(&hash(&[])))?;
        }
        // Fill the bytes that were not kept with zeros: no decision depends on them.
        bytes.resize(length, 0);
        Ok(Record::Arrival { at, point, bytes })
    }

    fn decision(&mut self, at: Time) -> io::Result<Record> {
        let packet = self.number()?;
        let switch = u32::try_from(self.number()?).map_err(|_| invalid("no number of a switch"))?;
        let action = self.byte()?;
        let action = Action::from_number(action).ok_or_else(|| invalid(&format!("no action has number {action}")))?;
        let port = PortId(self.small("port")?);
        Ok(Record::Decision(Decision { at, packet, switch, action, port, queue: QueueId(self.byte()?) }))
    }

    fn small(&mut self, what: &str) -> io::Result<u16> {
        u16::try_from(self.number()?).map_err(|_| invalid(&format!("no number of a {what}")))
    }

    fn length(&mut self) -> io::Result<usize> {
        let length = self.number()?;
        if length > LENGTH_MAX { Err(invalid("a length that nothing has")) } else { Ok(length as usize) }
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(invalid("a number that is too long"))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn bytes(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
