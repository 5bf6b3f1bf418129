//! A unified diff as styled lines. The signs at their beginnings say what the colours say.

use ratatui::text::{Line, Span};

use super::{Breaks, Wrap, clean};
use crate::ui::theme::{Role, Theme};

/// Where the lines go.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Columns of a line, the indent included.
    pub width: usize,
    /// Its colours.
    pub theme: &'a Theme,
    /// Before every line.
    pub indent: &'a [Span<'static>],
}

/// `text`, a unified diff, as lines appended to `out`. Nothing of it is dropped, spaces at line ends included.
pub fn append(text: &str, page: &Page<'_>, out: &mut Vec<Line<'static>>) {
    // Inside a hunk a removed line of dashes is content, not the head of a file.
    let (mut old_left, mut new_left) = (0_usize, 0_usize);
    for line in clean(text).lines() {
        let in_hunk = old_left > 0 || new_left > 0;
        let role = match line.as_bytes().first() {
            Some(b'+') if in_hunk => Role::Added,
            Some(b'-') if in_hunk => Role::Removed,
            Some(b'@') if line.starts_with("@@") => Role::Hunk,
            _ if in_hunk => Role::Text,
            _ if line.starts_with("+++") || line.starts_with("---") => Role::Hunk,
            Some(b'+') => Role::Added,
            Some(b'-') => Role::Removed,
            _ => Role::Dim,
        };
        match role {
            Role::Hunk => (old_left, new_left) = lengths(line).unwrap_or((0, 0)),
            Role::Added => new_left = new_left.saturating_sub(1),
            Role::Removed => old_left = old_left.saturating_sub(1),
            _ if line.starts_with('\\') => {}
            _ => (old_left, new_left) = (old_left.saturating_sub(1), new_left.saturating_sub(1)),
        }
        let span = Span::styled(line.to_owned(), page.theme.style(role));
        let wrap = Wrap { width: page.width, first: page.indent, rest: page.indent, breaks: Breaks::Anywhere };
        wrap.append(&[span], out);
    }
}

/// Lines of the old and the new side in a hunk, from `@@ -1,3 +1,4 @@`.
fn lengths(head: &str) -> Option<(usize, usize)> {
    let mut words = head.strip_prefix("@@ -")?.split(' ');
    let length = |word: &str| match word.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    let old = length(words.next()?)?;
    let new = length(words.next()?.strip_prefix('+')?)?;
    Some((old, new))
}
