//! How many columns a text takes: the sum over its grapheme clusters, which is how cells are filled.
//!
//! Texts are expected to be cleaned before; a control character counts nothing.

use std::borrow::Cow;

use ratatui::buffer::CellWidth;
use unicode_segmentation::UnicodeSegmentation;

/// The mark of something cut, one column wide.
pub const ELLIPSIS: &str = "…";

/// Columns of one grapheme cluster.
pub fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [0x20..0x7f] => 1,
        _ if grapheme.contains(char::is_control) => 0,
        _ => usize::from(grapheme.cell_width()),
    }
}

/// Columns of `text`.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// `text` in at most `max` columns; what is cut ends in `…`.
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    // A long text need not be measured to its end to know that it is too long.
    if text.len() <= max && text.is_ascii() || width(text) <= max {
        return Cow::Borrowed(text);
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let head = head(text, max - 1);
    Cow::Owned(format!("{}{ELLIPSIS}", head.trim_end()))
}

/// The longest beginning of `text` that takes at most `max` columns.
pub fn head(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        used += grapheme_width(grapheme);
        if used > max {
            return &text[..start];
        }
    }
    text
}

/// `text` in exactly `columns` columns: cut with `…` or filled with spaces.
pub fn fit(text: &str, columns: usize) -> String {
    let mut out = truncate(text, columns).into_owned();
    let used = width(&out);
    out.extend(std::iter::repeat_n(' ', columns.saturating_sub(used)));
    out
}
