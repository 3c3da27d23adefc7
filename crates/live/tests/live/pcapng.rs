//! A reader of pcapng files, written from the format's specification.

/// A packet of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    pub interface: String,
    pub at_ns: u64,
    pub data: Vec<u8>,
    pub length: usize,
    pub comment: String,
    pub identity: Option<u64>,
}

#[derive(Debug, Default)]
pub struct File {
    pub interfaces: Vec<String>,
    pub packets: Vec<Captured>,
    /// By interface: packets accepted and kept.
    pub statistics: Vec<(u64, u64)>,
}

impl File {
    /// Packets of an interface.
    pub fn at(&self, interface: &str) -> Vec<&Captured> {
        assert!(self.interfaces.iter().any(|name| name == interface), "{interface}: {:?}", self.interfaces);
        self.packets.iter().filter(|packet| packet.interface == interface).collect()
    }

    pub fn count(&self, comment: &str) -> u64 {
        self.packets.iter().filter(|packet| packet.comment == comment).count() as u64
    }
}

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}

/// Returns the value of an option.
fn option(mut bytes: &[u8], number: u16) -> Option<&[u8]> {
    loop {
        let [code, length] = [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        match code {
            0 => return None,
            code if code == number => return Some(&bytes[4..4 + usize::from(length)]),
            _ => bytes = &bytes[4 + usize::from(length).next_multiple_of(4)..],
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Reads a file. Panics if its packets are out of order.
pub fn read(mut bytes: &[u8]) -> File {
    let mut file = File::default();
    assert_eq!(word(bytes, 0), 0x0a0d_0d0a, "a section");
    while !bytes.is_empty() {
        let (kind, length) = (word(bytes, 0), word(bytes, 4));
        assert_eq!(word(bytes, length - 4), length);
        let body = &bytes[8..length - 4];
        match kind {
            1 => {
                let name = option(&body[8..], 2).expect("a name");
                file.interfaces.push(String::from_utf8(name.to_vec()).expect("text"));
            }
            5 => {
                assert_eq!(word(body, 0), file.statistics.len());
                let [accepted, kept] = [6, 8].map(|code| option(&body[12..], code).map(number).expect("a counter"));
                file.statistics.push((accepted, kept));
            }
            6 => file.packets.push(packet(&file, body)),
            other => assert_eq!(other, 0x0a0d_0d0a),
        }
        bytes = &bytes[length..];
    }
    assert!(file.packets.is_sorted_by_key(|packet| packet.at_ns));
    file
}

fn packet(file: &File, body: &[u8]) -> Captured {
    let kept = word(body, 12);
    let options = &body[20 + kept.next_multiple_of(4)..];
    let comment = option(options, 1).unwrap_or_default();
    Captured {
        interface: file.interfaces[word(body, 0)].clone(),
        at_ns: (word(body, 4) as u64) << 32 | word(body, 8) as u64,
        data: body[20..20 + kept].to_vec(),
        length: word(body, 16),
        comment: String::from_utf8(comment.to_vec()).expect("text"),
        identity: option(options, 5).map(number),
    }
}
