//! Changed cells as bytes, in as few as attributes and jumps can be said in. It never looks at what was shown before.
//!
//! Attributes are plain before and after. Whatever an attribute takes back is taken back by starting from plain again.

use std::io::Write;

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// Modifiers and the numbers that switch them on.
const MODIFIERS: [(Modifier, u8); 9] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::SLOW_BLINK, 5),
    (Modifier::RAPID_BLINK, 6),
    (Modifier::REVERSED, 7),
    (Modifier::HIDDEN, 8),
    (Modifier::CROSSED_OUT, 9),
];

/// Blank cells from which erasing them and a jump are shorter.
const ERASED: usize = 10;

/// The attributes in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Pen {
    const PLAIN: Self = Self { fg: Color::Reset, bg: Color::Reset, modifier: Modifier::empty() };

    fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }

    /// Adds the sequence after which `wanted` is in force.
    fn change(&mut self, wanted: Self, out: &mut Vec<u8>) {
        if *self == wanted {
            return;
        }
        let lost = (wanted.fg == Color::Reset && self.fg != Color::Reset)
            || (wanted.bg == Color::Reset && self.bg != Color::Reset)
            || !wanted.modifier.contains(self.modifier);
        out.extend(b"\x1b[");
        let start = out.len();
        if lost {
            *self = Self::PLAIN;
            // Alone, nothing means the same.
            if wanted != Self::PLAIN {
                out.push(b'0');
            }
        }
        let mut part = |text: std::fmt::Arguments<'_>| {
            if out.len() > start {
                out.push(b';');
            }
            // A vector takes everything.
            drop(out.write_fmt(text));
        };
        for (modifier, number) in MODIFIERS {
            if wanted.modifier.contains(modifier) && !self.modifier.contains(modifier) {
                part(format_args!("{number}"));
            }
        }
        for (wanted, current, layer) in [(wanted.fg, self.fg, Layer::Text), (wanted.bg, self.bg, Layer::Behind)] {
            if wanted != current {
                colour(wanted, layer, &mut part);
            }
        }
        out.push(b'm');
        *self = wanted;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Text,
    Behind,
}

fn colour(colour: Color, layer: Layer, part: &mut impl FnMut(std::fmt::Arguments<'_>)) {
    let behind = if layer == Layer::Behind { 10 } else { 0 };
    let base = match colour {
        Color::Reset => 39,
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        Color::Indexed(number) => return part(format_args!("{};5;{number}", 38 + behind)),
        Color::Rgb(red, green, blue) => return part(format_args!("{};2;{red};{green};{blue}", 38 + behind)),
    };
    part(format_args!("{}", base + behind));
}

/// Adds the bytes that put `cells` on the screen, in the order given.
pub(super) fn write<'a>(out: &mut Vec<u8>, cells: impl IntoIterator<Item = (u16, u16, &'a Cell)>) {
    let mut pen = Pen::PLAIN;
    // Where the cursor is known to be.
    let mut at: Option<(u16, u16)> = None;
    let mut row = None;
    let mut cells = cells.into_iter().peekable();
    while let Some((x, y, cell)) = cells.next() {
        // Writing to a vector does not fail.
        if row == Some(y) && at != Some((x, y)) {
            drop(write!(out, "\x1b[{}G", u32::from(x) + 1));
        } else if row != Some(y) {
            drop(write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1));
        }
        row = Some(y);
        pen.change(Pen::of(cell), out);
        let mut end = x.saturating_add(1);
        if !is_blank(cell) {
            out.extend(cell.symbol().as_bytes());
            // A wide character is followed by a jump: a terminal may think otherwise about its width.
            at = Some((end, y));
            continue;
        }
        while cells.next_if(|(x, next_y, cell)| (*x, *next_y) == (end, y) && is_blank(cell)).is_some() {
            end = end.saturating_add(1);
        }
        let blanks = usize::from(end - x);
        if blanks >= ERASED {
            drop(write!(out, "\x1b[{blanks}X"));
            at = Some((x, y));
        } else {
            out.resize(out.len() + blanks, b' ');
            at = Some((end, y));
        }
    }
    pen.change(Pen::PLAIN, out);
}

fn is_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && Pen::of(cell) == Pen::PLAIN
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Cell;
    use ratatui::style::{Color, Modifier, Style};

    use super::write;

    fn cell(symbol: &'static str, style: Style) -> Cell {
        let mut cell = Cell::new(symbol);
        cell.set_style(style);
        cell
    }

    fn written(cells: &[(u16, u16, Cell)]) -> String {
        let mut out = Vec::new();
        write(&mut out, cells.iter().map(|(x, y, cell)| (*x, *y, cell)));
        String::from_utf8(out).unwrap().replace('\x1b', "␛")
    }

    #[test]
    fn only_what_differs_is_said() {
        let dim = Style::new().add_modifier(Modifier::DIM);
        let blue = Style::new().fg(Color::Blue);
        let cells = [
            (0, 0, cell("a", Style::new())),
            (1, 0, cell("b", dim)),
            (2, 0, cell("c", dim.fg(Color::Blue))),
            (9, 0, cell("d", blue)),
            (0, 1, cell("e", blue.bg(Color::Indexed(200)))),
            (1, 1, cell("f", Style::new())),
        ];
        assert_eq!(written(&cells), "␛[1;1Ha␛[2mb␛[34mc␛[10G␛[0;34md␛[2;1H␛[48;5;200me␛[mf");
        assert_eq!(written(&cells[..2]), "␛[1;1Ha␛[2mb␛[m", "plain afterwards");
        assert_eq!(written(&[]), "");
    }

    #[test]
    fn many_blanks_are_erased() {
        let blank = |x| (x, 0, Cell::default());
        let end = (12, 0, cell("e", Style::new()));
        assert_eq!(written(&(0..9).map(blank).collect::<Vec<_>>()), "␛[1;1H         ");
        assert_eq!(written(&(0..12).map(blank).chain([end]).collect::<Vec<_>>()), "␛[1;1H␛[12X␛[13Ge");
    }

    fn any_style() -> impl Strategy<Value = Style> {
        let colour = prop_oneof![
            Just(Color::Reset),
            Just(Color::Red),
            Just(Color::White),
            any::<u8>().prop_map(Color::Indexed),
            any::<(u8, u8, u8)>().prop_map(|(red, green, blue)| Color::Rgb(red, green, blue)),
        ];
        let modifiers =
            (Modifier::BOLD | Modifier::DIM | Modifier::ITALIC | Modifier::UNDERLINED | Modifier::REVERSED).bits();
        (colour.clone(), colour, any::<u16>()).prop_map(move |(fg, bg, bits)| {
            let mut modifiers = Modifier::from_bits_truncate(bits & modifiers);
            if modifiers.contains(Modifier::DIM) {
                // The emulator knows one of the two at a time.
                modifiers.remove(Modifier::BOLD);
            }
            Style::new().fg(fg).bg(bg).add_modifier(modifiers)
        })
    }

    fn vt100_colour(colour: Color) -> vt100::Color {
        match colour {
            Color::Red => vt100::Color::Idx(1),
            Color::White => vt100::Color::Idx(15),
            Color::Indexed(number) => vt100::Color::Idx(number),
            Color::Rgb(red, green, blue) => vt100::Color::Rgb(red, green, blue),
            _ => vt100::Color::Default,
        }
    }

    proptest! {
        #[test]
        fn a_terminal_shows_every_attribute(styles in proptest::collection::vec((any_style(), 0_u16..20, 0_u16..4), 1..30)) {
            let cells: Vec<_> = styles.into_iter().map(|(style, x, y)| (x, y, cell("x", style))).collect();
            let mut parser = vt100::Parser::new(4.try_into().unwrap(), 20.try_into().unwrap(), 0);
            parser.process(written(&cells).replace('␛', "\x1b").as_bytes());
            for (at, (x, y, cell)) in cells.iter().enumerate() {
                if cells[at + 1..].iter().any(|(later_x, later_y, _)| (later_x, later_y) == (x, y)) {
                    continue;
                }
                let shown = parser.screen().cell(*y, *x).unwrap();
                prop_assert_eq!(shown.contents(), "x");
                prop_assert_eq!((shown.fgcolor(), shown.bgcolor()), (vt100_colour(cell.fg), vt100_colour(cell.bg)));
                let has = |modifier| cell.modifier.contains(modifier);
                prop_assert_eq!(shown.bold(), has(Modifier::BOLD));
                prop_assert_eq!(shown.dim(), has(Modifier::DIM));
                prop_assert_eq!(shown.italic(), has(Modifier::ITALIC));
                prop_assert_eq!(shown.underline(), has(Modifier::UNDERLINED));
                prop_assert_eq!(shown.inverse(), has(Modifier::REVERSED));
            }
        }
    }
}
