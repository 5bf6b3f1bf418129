//! Every rectangle of a frame, computed once from the sizes of what wants room. Nothing here draws.

use ratatui::layout::Rect;

/// Below this width one line asks for room.
pub const MIN_WIDTH: u16 = 60;
/// Below this height one line asks for room.
pub const MIN_HEIGHT: u16 = 15;
/// From this width a side pane stands beside the transcript.
pub const SIDE_PANE_FROM: u16 = 110;
/// From this width there are two.
pub const TWO_PANES_FROM: u16 = 190;
/// Width of the side pane, and of the left one of two.
pub const SIDE_PANE: u16 = 36;
/// Width of the right one of two, where the shown card has its detail.
pub const DETAIL_PANE: u16 = 56;
/// Below this height a card is one line and opens in full view.
pub const FOLD_CARD_BELOW: u16 = 20;
/// Rows that the transcript keeps whatever else wants room.
const TRANSCRIPT_AT_LEAST: u16 = 4;

/// The three layouts, and the one that asks for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Columns {
    /// Too small.
    None,
    /// Under 110 columns.
    One,
    /// From 110.
    Two,
    /// From 190.
    Three,
}

impl Columns {
    /// The layout of a terminal of this size.
    pub fn of(width: u16, height: u16) -> Self {
        match width {
            _ if width < MIN_WIDTH || height < MIN_HEIGHT => Self::None,
            0..SIDE_PANE_FROM => Self::One,
            SIDE_PANE_FROM..TWO_PANES_FROM => Self::Two,
            _ => Self::Three,
        }
    }
}

/// What wants room in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// Rows of the draft at the composer's width.
    pub composer: u16,
    /// Rows of the shown card, heading and footer included; 0: none waits.
    pub card: u16,
    /// Alerts.
    pub alerts: u16,
    /// Commands that complete what is typed.
    pub completions: u16,
}

/// Every rectangle. One that is not drawn in this frame is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Which layout.
    pub columns: Columns,
    /// The whole terminal.
    pub whole: Rect,
    /// Who, which model, how much.
    pub header: Rect,
    /// The transcript, or the pane or view that covers it.
    pub main: Rect,
    /// The left pane of three columns.
    pub left: Rect,
    /// The line between left pane and transcript.
    pub left_line: Rect,
    /// The right pane.
    pub right: Rect,
    /// The line between transcript and right pane.
    pub right_line: Rect,
    /// Alerts.
    pub alerts: Rect,
    /// The card strip.
    pub card: Rect,
    /// Completions.
    pub completions: Rect,
    /// The line above the composer.
    pub rule: Rect,
    /// The composer, prompt included.
    pub composer: Rect,
    /// Keys, or a prompt.
    pub hints: Rect,
}

/// Width of the draft beside a prompt of `prompt` columns: the last column stays empty for input methods.
pub fn draft_width(width: u16, prompt: u16) -> u16 {
    width.saturating_sub(prompt).saturating_sub(1).max(1)
}

/// The rectangles of a frame.
pub fn layout(width: u16, height: u16, wants: Wants) -> Layout {
    let whole = Rect::new(0, 0, width, height);
    let none = Rect::new(0, 0, 0, 0);
    let columns = Columns::of(width, height);
    let mut layout = Layout {
        columns,
        whole,
        header: none,
        main: none,
        left: none,
        left_line: none,
        right: none,
        right_line: none,
        alerts: none,
        card: none,
        completions: none,
        rule: none,
        composer: none,
        hints: none,
    };
    if columns == Columns::None {
        return layout;
    }
    // From the bottom up, each takes what it may and the transcript keeps the rest.
    let mut bottom = height;
    let mut take = |rows: u16, spare: u16| {
        let rows = rows.min(bottom.saturating_sub(1 + spare));
        bottom -= rows;
        Rect::new(0, bottom, width, rows)
    };
    layout.hints = take(1, TRANSCRIPT_AT_LEAST);
    let breathing = u16::from(height >= FOLD_CARD_BELOW && wants.composer <= 1);
    let composer = wants.composer.clamp(1, (height / 3).max(1)) + breathing;
    layout.composer = take(composer, TRANSCRIPT_AT_LEAST);
    layout.rule = take(1, TRANSCRIPT_AT_LEAST);
    layout.completions = take(wants.completions.min(8), TRANSCRIPT_AT_LEAST);
    let card = if height < FOLD_CARD_BELOW { wants.card.min(1) } else { wants.card.min((height / 2).max(7)) };
    layout.card = take(card, TRANSCRIPT_AT_LEAST);
    layout.alerts = take(wants.alerts.min(4), TRANSCRIPT_AT_LEAST);
    layout.header = Rect::new(0, 0, width, 1);
    let rows = bottom.saturating_sub(1);
    let (left, right) = match columns {
        Columns::None | Columns::One => (0, 0),
        Columns::Two => (0, SIDE_PANE),
        Columns::Three => (SIDE_PANE, DETAIL_PANE),
    };
    let line = |of: u16| u16::from(of > 0);
    layout.left = Rect::new(0, 1, left, rows);
    layout.left_line = Rect::new(left, 1, line(left), rows);
    layout.right = Rect::new(width - right, 1, right, rows);
    layout.right_line = Rect::new(width - right - line(right), 1, line(right), rows);
    let start = left + line(left);
    layout.main = Rect::new(start, 1, width - start - right - line(right), rows);
    layout
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layouts_change_at_their_widths() {
        let table = [
            (59, 24, Columns::None),
            (60, 14, Columns::None),
            (60, 15, Columns::One),
            (109, 24, Columns::One),
            (110, 24, Columns::Two),
            (189, 24, Columns::Two),
            (190, 24, Columns::Three),
        ];
        for (width, height, columns) in table {
            assert_eq!(Columns::of(width, height), columns, "{width}x{height}");
        }
    }

    proptest! {
        #[test]
        fn rectangles_lie_inside_and_never_overlap(
            width in 0u16..300, height in 0u16..100,
            composer in 0u16..50, card in 0u16..80, alerts in 0u16..9, completions in 0u16..30,
        ) {
            let made = layout(width, height, Wants { composer, card, alerts, completions });
            let all = [made.header, made.main, made.left, made.left_line, made.right, made.right_line,
                made.alerts, made.card, made.completions, made.rule, made.composer, made.hints];
            let mut cells = 0;
            for (at, rect) in all.iter().enumerate() {
                prop_assert!(rect.is_empty() || made.whole.union(*rect) == made.whole, "{rect:?}");
                cells += u32::from(rect.width) * u32::from(rect.height);
                for other in all.iter().skip(at + 1) {
                    prop_assert!(rect.intersection(*other).is_empty(), "{rect:?} {other:?}");
                }
            }
            if made.columns != Columns::None {
                prop_assert_eq!(cells, u32::from(width) * u32::from(height));
                prop_assert!(made.main.height >= 3);
                prop_assert_eq!(made.hints.height, 1);
                prop_assert!(made.composer.height >= 1);
            }
        }
    }
}
