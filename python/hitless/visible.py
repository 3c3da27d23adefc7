"""Text without control characters, invisible ones, and characters that are invalid in pages."""

_HIDDEN = (*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
"""Control characters, and surrogates, which replace bytes of a file name that are invalid UTF-8."""
_FORMAT = (0x061C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
"""Characters without a width, which change the direction of text or end a line; not joiners, which change letters."""
_ESCAPES = {code: f"\\u{code:04x}" for code in (*_HIDDEN, *_FORMAT) if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    r"""Show control and format characters but tabs and newlines in the notation of JSON and TOML: ``\u001b``."""
    return text.translate(_ESCAPES)
