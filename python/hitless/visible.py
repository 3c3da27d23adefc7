"""Text without control characters and characters that are invalid in pages."""

_HIDDEN = (*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000), 0xFFFE, 0xFFFF)
"""Control characters, and surrogates, which replace bytes of a file name that are invalid UTF-8."""
_ESCAPES = {code: f"\\u{code:04x}" for code in _HIDDEN if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    r"""Show each control character but tabs and newlines in the notation of JSON and TOML: ``\u001b``."""
    return text.translate(_ESCAPES)
