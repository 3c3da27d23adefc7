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
        ("7 \u{b5}s", 7_000_000),
        ("7 \u{3bc}s", 7_000_000),
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
        ("-1 us", format!("{TIME} (a duration is never negative)")),
        ("1e3 us", format!("{TIME} (did you mean \"1000 us\"?)")),
        ("5", format!("{TIME} (give a unit, as in \"5 us\")")),
        ("5 m", format!("{TIME} (did you mean \"5 ms\" or \"5 min\"?)")),
        ("1.5m", format!("{TIME} (did you mean \"1.5 ms\" or \"1.5 min\"?)")),
        ("5000", format!("{TIME} (give a unit, as in \"1.5 us\")")),
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
}

#[test]
fn a_hint_is_the_same_quantity_in_a_unit_that_can_be_read() {
    fn check<Q: Quantity>(rows: &[(&str, &str)]) {
        for (text, meant) in rows {
            let hint = Q::read(text).err().and_then(|error| error.hint);
            assert_eq!(hint.as_deref(), Some(format!("did you mean \"{meant}\"?").as_str()), "{text}");
            assert!(Q::read(meant).is_ok(), "{meant}");
        }
    }
    check::<BitRate>(&[
        ("10 GB/s", "80 Gbps"),
        ("10 GBps", "80 Gbps"),
        ("125 MB/s", "1 Gbps"),
        ("1 GiB/s", "8.589934592 Gbps"),
        ("1.5 gbytes/s", "12 Gbps"),
        ("10 gbit", "10 Gbps"),
        ("10 Gb/s", "10 Gbps"),
        ("2.5 Gbit/s", "2.5 Gbps"),
        ("10GBPS", "10 Gbps"),
        ("10 gbps", "10 Gbps"),
        ("100 M", "100 Mbps"),
        ("1 Gps", "1 Gbps"),
        ("1e9 bps", "1000000000 bps"),
    ]);
    check::<Duration>(&[
        ("5 usec", "5 us"),
        ("5 \u{b5}sec", "5 us"),
        ("5 \u{3bc}sec", "5 us"),
        ("1 sec", "1 s"),
        ("5 MS", "5 ms"),
        ("1.5 hours", "1.5 h"),
        ("20 milliseconds", "20 ms"),
        ("5e-3 s", "0.005 s"),
        (".5 us", "0.5 us"),
    ]);
    check::<Bytes>(&[
        ("300 kb", "300 KB"),
        ("300KBytes", "300 KB"),
        ("1 mib", "1 MiB"),
        ("300 kbit", "37.5 KB"),
        ("2 K", "2 KB"),
    ]);
    check::<QueueLength>(&[("5 packtes", "5 packets"), ("65 pkts", "65 packets"), ("9 bytes", "9 B")]);
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
