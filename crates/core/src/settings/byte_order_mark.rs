//! The mark that some editors put before a text in UTF-8.

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text without the mark before it, if there is one.
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}
