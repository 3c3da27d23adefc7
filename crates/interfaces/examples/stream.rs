//! Sends frames of 64 bytes from one interface and counts them at another one.
//!
//!     stream NAMESPACE INTERFACE NAMESPACE INTERFACE [FRAMES_PER_SECOND|0] [SECONDS] [PROCESSOR]
//!
//! With 0 as many as possible. What arrived goes to stdout.

use std::error::Error;
use std::time::Duration;

use hitless_interfaces::namespace::Namespace;
use hitless_interfaces::traffic::{Addresses, Processors, Stream, measure};
use hitless_interfaces::{Options, open};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [from_namespace, from, to_namespace, to, numbers @ ..] = words.as_slice() else {
        return Err("stream NAMESPACE INTERFACE NAMESPACE INTERFACE [RATE] [SECONDS] [PROCESSOR]".into());
    };
    let number = |at: usize, default: f64| numbers.get(at).map_or(Ok(default), |text| text.parse::<f64>());
    let rate = number(0, 0.0)?;
    let processor = numbers.get(2).map(|text| text.parse()).transpose()?;
    let options = Options { ring_frames: 1 << 16, ..Options::default() };
    let mut source = Namespace::named(from_namespace)?.within(|| open(from, options))??;
    let mut sink = Namespace::named(to_namespace)?.within(|| open(to, options))??;
    let stream = Stream {
        id: std::process::id(),
        addresses: Addresses {
            source: [2, 0x68, 0x6c, 0, 0, 1],
            destination: [2, 0x68, 0x6c, 0, 0, 2],
            source_ip: [198, 18, 0, 1],
            destination_ip: [198, 18, 0, 2],
        },
        frame_bytes: 60,
        rate_pps: (rate > 0.0).then_some(rate),
        duration: Duration::from_secs_f64(number(1, 1.0)?),
    };
    let measured = measure(&mut *source, &mut *sink, &stream, Processors { generator: processor, sink: processor })?;
    let per_second = |count: u64, elapsed_ns: u64| count as f64 / elapsed_ns.max(1) as f64 * 1e6;
    let (generated, arrivals) = (&measured.generated, &measured.arrivals);
    println!(
        "sent {} at {:.0} kpps (ring full {}), arrived {} at {:.0} kpps, lost {}, reordered {}, overrun {}",
        generated.frames_sent,
        per_second(generated.frames_sent, generated.elapsed_ns),
        generated.ring_full,
        arrivals.frames,
        per_second(arrivals.frames, arrivals.elapsed_ns),
        measured.frames_lost(),
        arrivals.reordered,
        arrivals.overrun,
    );
    let delay = |quantile| arrivals.delays_ns.value_at_quantile(quantile) as f64 / 1e3;
    println!("delay us: p50 {:.1}, p99 {:.1}, p99.9 {:.1}", delay(0.5), delay(0.99), delay(0.999));
    Ok(())
}
