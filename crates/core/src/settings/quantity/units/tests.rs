use proptest::prelude::*;

use super::*;

#[test]
fn quantities_are_read_exactly() {
    let times = [
        ("1.5 us", 1_500_000),
        ("100ns", 100_000),
        ("0 s", 0),
        ("0.000000000001 s", 1),
        ("2 min", 120_000_000_000_000),
        ("1_000 ps", 1_000),
        (" 3.250 ms ", 3_250_000_000),
        ("7 µs", 7_000_000),
    ];
    for (text, ps) in times {
        assert_eq!(Duration::read(text), Ok(Duration(ps)), "{text}");
    }
    let sizes = [("300 KB", 300_000), ("64 KiB", 65_536), ("143 B", 143), ("1.5MB", 1_500_000), ("9 kB", 9_000)];
    for (text, bytes) in sizes {
        assert_eq!(Bytes::read(text), Ok(Bytes(bytes)), "{text}");
    }
    assert_eq!(BitRate::read("100 Gbps"), Ok(BitRate::from_gbps(100)));
    assert_eq!(BitRate::read("0.4 Tbps"), Ok(BitRate::from_gbps(400)));
    assert_eq!(QueueLength::read("65 packets"), Ok(QueueLength::Packets(65)));
    assert_eq!(QueueLength::read("1 packet"), Ok(QueueLength::Packets(1)));
    assert_eq!(QueueLength::read("100 KB"), Ok(QueueLength::Bytes(Bytes(100_000))));
}

#[test]
fn what_is_no_quantity_says_why() {
    const TIME: &str = "a duration is a number and a unit (ps, ns, us, ms, s, min, h), as in \"1.5 us\"";
    let table = [
        ("", TIME.to_string()),
        ("fast", TIME.to_string()),
        ("-1 us", TIME.to_string()),
        ("1e3 us", TIME.to_string()),
        ("5", format!("{TIME} (give a unit, as in \"5 ps\")")),
        ("5 usec", format!("{TIME} (did you mean \"5 us\"?)")),
        ("5 MS", format!("{TIME} (did you mean \"5 ms\"?)")),
        ("1.2.3 us", "a number has at most one decimal point".into()),
        ("0.1 ps", "the value is finer than the smallest unit".into()),
        ("99999999999 s", "the value is out of range".into()),
        ("9999999999999999999999999 s", "a number of so many digits is out of range".into()),
    ];
    for (text, message) in table {
        assert_eq!(Duration::read(text).unwrap_err().to_string(), message, "{text}");
    }
    let zero = BitRate::read("0 Gbps").unwrap_err().to_string();
    assert_eq!(zero, "a rate must be above zero (to stop a link from carrying anything, take it down)");
    let packets = QueueLength::read("5 packtes").unwrap_err();
    assert_eq!(packets.hint.as_deref(), Some("did you mean \"5 packets\"?"));
}

#[test]
fn quantities_are_written_readably() {
    let table =
        [(0, "0 s"), (1, "1 ps"), (7_500_000, "7.5 us"), (1_000_000_000_000, "1 s"), (1_000_001, "1.000001 us")];
    for (ps, text) in table {
        assert_eq!(Duration(ps).text(), text);
    }
    assert_eq!(Bytes(1_448).text(), "1448 B");
    assert_eq!(Bytes(300_000).text(), "300 KB");
    assert_eq!(BitRate::from_gbps(25).text(), "25 Gbps");
}

proptest! {
    #[test]
    fn reading_inverts_writing(number in any::<u64>(), shift in 0u32..64) {
        let number = number >> shift;
        prop_assert_eq!(Duration::read(&Duration(number).text()), Ok(Duration(number)));
        prop_assert_eq!(Time::read(&Time(number).text()), Ok(Time(number)));
        prop_assert_eq!(Bytes::read(&Bytes(number).text()), Ok(Bytes(number)));
        for length in [QueueLength::Packets(number), QueueLength::Bytes(Bytes(number))] {
            prop_assert_eq!(QueueLength::read(&length.text()), Ok(length));
        }
        if let Some(rate) = BitRate::from_bps(number) {
            prop_assert_eq!(BitRate::read(&rate.text()), Ok(rate));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*|([0-9._]{0,40} ?[a-zA-Zµ]{0,5})") {
        let _ = Duration::read(&text);
        let _ = BitRate::read(&text);
        let _ = Bytes::read(&text);
        let _ = QueueLength::read(&text);
    }
}
