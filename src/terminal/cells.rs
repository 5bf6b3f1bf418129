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
    let mut last: Option<(u16, u16)> = None;
    for (x, y, cell) in cells {
        match last {
            // After a wide character a terminal may think otherwise, so its width is not counted on.
            Some((last_x, last_y)) if last_y == y && last_x.checked_add(1) == Some(x) => {}
            Some((_, last_y)) if last_y == y => drop(write!(out, "\x1b[{}G", u32::from(x) + 1)),
            _ => drop(write!(out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1)),
        }
        last = Some((x, y));
        pen.change(Pen::of(cell), out);
        out.extend(cell.symbol().as_bytes());
    }
    pen.change(Pen::PLAIN, out);
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
