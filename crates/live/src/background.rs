//! Writes a file in a separate thread, with bounded memory.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};

/// Size of the pieces that are passed to the writing thread.
const CHUNK_BYTES: usize = 64 * 1_024;

/// A file that is being written.
pub struct BackgroundFile {
    chunk: Vec<u8>,
    /// `None` after a failure, and after the end.
    chunks: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<io::Result<()>>>,
}

impl BackgroundFile {
    /// Starts the thread `name`, which opens the file. At most `chunks` pieces of 64 KiB wait for the disk.
    pub fn new<W: Write>(
        name: &str,
        chunks: usize,
        open: impl FnOnce() -> io::Result<W> + Send + 'static,
    ) -> io::Result<Self> {
        let (chunks, waiting) = sync_channel(chunks);
        let writer = thread::Builder::new().name(name.to_owned()).spawn(move || write_chunks(open()?, &waiting))?;
        Ok(Self { chunk: Vec::with_capacity(2 * CHUNK_BYTES), chunks: Some(chunks), writer: Some(writer) })
    }

    /// Whether it still takes bytes.
    pub fn is_open(&self) -> bool {
        self.chunks.is_some()
    }

    /// The bytes that were not handed over yet, to be appended to.
    pub fn chunk(&mut self) -> &mut Vec<u8> {
        &mut self.chunk
    }

    pub fn is_chunk_empty(&self) -> bool {
        self.chunk.is_empty()
    }

    pub fn is_chunk_full(&self) -> bool {
        self.chunk.len() >= CHUNK_BYTES
    }

    /// Appends bytes if there is room for them; returns whether there was.
    pub fn put(&mut self, bytes: &[u8]) -> bool {
        if !self.is_open() || self.is_chunk_full() && !self.hand_over() {
            return false;
        }
        self.chunk.extend_from_slice(bytes);
        true
    }

    /// Passes the bytes on to the thread. Returns false, and keeps them, if too many wait already.
    pub fn hand_over(&mut self) -> bool {
        let Some(chunks) = &self.chunks else { return false };
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(2 * CHUNK_BYTES));
        match chunks.try_send(chunk) {
            Ok(()) => true,
            Err(TrySendError::Full(chunk)) => {
                self.chunk = chunk;
                false
            }
            Err(TrySendError::Disconnected(_)) => {
                self.chunks = None;
                false
            }
        }
    }

    /// Takes no more bytes.
    pub fn cut(&mut self) {
        self.chunks = None;
    }

    /// Waits until everything is written.
    pub fn close(&mut self) -> io::Result<()> {
        if let Some(chunks) = self.chunks.take() {
            // A failed thread has dropped the receiver; its result has the reason.
            let _ = chunks.send(std::mem::take(&mut self.chunk));
        }
        let Some(writer) = self.writer.take() else { return Ok(()) };
        writer.join().unwrap_or_else(|_| Err(io::Error::other("the writing thread failed")))
    }
}

fn write_chunks<W: Write>(mut out: W, chunks: &Receiver<Vec<u8>>) -> io::Result<()> {
    while let Ok(chunk) = chunks.recv() {
        out.write_all(&chunk)?;
    }
    out.flush()
}
