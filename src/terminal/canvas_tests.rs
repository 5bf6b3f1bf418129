use std::num::NonZero;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use ratatui::layout::{Position, Rect, Size};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use ratatui::{Frame, Terminal};

use super::super::frame::render;
use super::Canvas;

/// A canvas with a terminal at the other end that says what it shows.
struct Pair {
    terminal: Terminal<Canvas>,
    size: Arc<Mutex<Size>>,
    parser: vt100::Parser,
}

fn cells(count: u16) -> NonZero<u16> {
    NonZero::new(count).unwrap()
}

impl Pair {
    fn new(width: u16, height: u16) -> Self {
        let size = Arc::new(Mutex::new(Size::new(width, height)));
        let asked = Arc::clone(&size);
        let canvas = Canvas::new(Box::new(move || Ok(*asked.lock().unwrap()))).unwrap();
        Self {
            terminal: Terminal::new(canvas).unwrap(),
            size,
            parser: vt100::Parser::new(cells(height), cells(width), 0),
        }
    }

    fn resize(&mut self, width: u16, height: u16) {
        *self.size.lock().unwrap() = Size::new(width, height);
        self.parser.screen_mut().set_size(cells(height), cells(width));
    }

    /// Draws a frame and compares the terminal with it; the bytes.
    fn draw(&mut self, view: impl FnOnce(&mut Frame<'_>)) -> Vec<u8> {
        let mut bytes = Vec::new();
        render(&mut self.terminal, &mut bytes, view).unwrap();
        let canvas = self.terminal.backend_mut();
        self.parser.process(&bytes);
        let screen = self.parser.screen();
        let wanted = &canvas.wanted;
        for y in 0..wanted.area.height {
            let mut covered = 0;
            for x in 0..wanted.area.width {
                if covered > 0 {
                    covered -= 1;
                    continue;
                }
                let (cell, shown) = (&wanted[(x, y)], screen.cell(y, x).unwrap());
                let text = if shown.has_contents() { shown.contents() } else { " " };
                assert_eq!(text, cell.symbol(), "cell {x},{y} of\n{}", screen.contents());
                assert_eq!(shown.bold(), cell.modifier.contains(Modifier::BOLD), "bold at {x},{y}");
                assert_eq!(shown.bgcolor() == vt100::Color::Default, cell.bg == Color::Reset, "background at {x},{y}");
                covered = u16::from(shown.is_wide());
            }
        }
        if canvas.cursor_visible {
            assert_eq!(screen.cursor_position(), (canvas.cursor.y, canvas.cursor.x));
        }
        assert_eq!(screen.hide_cursor(), !canvas.cursor_visible);
        bytes
    }
}

fn lines(frame: &mut Frame<'_>, lines: &[String], area: Rect) {
    for (line, y) in lines.iter().zip(area.top()..area.bottom()) {
        frame.render_widget(Line::raw(line.as_str()), Rect { y, height: 1, ..area });
    }
}

/// A transcript of which the end is shown, above a line that stays; beside it, in some widths, a pane that stays.
fn chat(frame: &mut Frame<'_>, said: &[String]) {
    let area = frame.area();
    let rows = usize::from(area.height - 2);
    let width = if beside(area.width) { area.width - 20 } else { area.width };
    lines(frame, &said[said.len().saturating_sub(rows)..], Rect::new(0, 1, width, area.height - 2));
    frame.render_widget(Line::styled("header", Style::new().bg(Color::Blue)), Rect::new(0, 0, area.width, 1));
    if beside(area.width) {
        let pane: Vec<String> = (0..rows).map(|row| format!("│ toolset {row}")).collect();
        lines(frame, &pane, Rect::new(width, 1, 20, area.height - 2));
    }
    frame.render_widget(Line::raw("to assistant › "), Rect::new(0, area.height - 1, area.width, 1));
    frame.set_cursor_position(Position::new(15, area.height - 1));
}

/// Whether a pane stands beside the transcript.
fn beside(width: u16) -> bool {
    width > 40 && width != 80
}

fn said(count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("{n} {}", "some words of an answer ".repeat(1 + n % 3)).chars().take(60).collect())
        .collect()
}

#[test]
fn a_line_more_moves_the_others_instead_of_sending_them_again() {
    let mut pair = Pair::new(80, 24);
    let whole = pair.draw(|frame| chat(frame, &said(50))).len();
    let more = pair.draw(|frame| chat(frame, &said(51)));
    assert!(whole > 1000 && more.len() < 200, "{whole} {}", String::from_utf8_lossy(&more).replace('\x1b', "␛"));
    assert!(String::from_utf8_lossy(&more).contains("\u{1b}[1M"));
    let back = pair.draw(|frame| chat(frame, &said(49)));
    assert!(back.len() < 400 && String::from_utf8_lossy(&back).contains("\u{1b}[2L"), "{}", back.len());
}

#[test]
fn a_pane_beside_is_mended_where_the_move_pays() {
    let mut pair = Pair::new(120, 40);
    let whole = pair.draw(|frame| chat(frame, &said(50))).len();
    let more = pair.draw(|frame| chat(frame, &said(51))).len();
    assert!(more * 2 < whole, "{whole} {more}");
}

#[test]
fn a_frame_like_the_one_before_is_no_bytes() {
    let mut pair = Pair::new(80, 24);
    pair.draw(|frame| chat(frame, &said(50)));
    assert_eq!(pair.draw(|frame| chat(frame, &said(50))), b"");
}

#[test]
fn only_the_cursor_moves_and_hides() {
    let mut pair = Pair::new(20, 4);
    pair.draw(|frame| frame.set_cursor_position((3, 1)));
    assert_eq!(pair.draw(|frame| frame.set_cursor_position((4, 1))), b"\x1b[2;5H");
    assert_eq!(pair.draw(|_| {}), b"\x1b[?25l");
    assert_eq!(pair.draw(|_| {}), b"");
    assert_eq!(pair.draw(|frame| frame.set_cursor_position((4, 1))), b"\x1b[2;5H\x1b[?25h");
}

#[test]
fn a_new_size_and_a_forgotten_screen_are_drawn_whole() {
    let mut pair = Pair::new(80, 24);
    pair.draw(|frame| chat(frame, &said(50)));
    for (width, height) in [(60, 20), (100, 30), (80, 3), (80, 24)] {
        pair.resize(width, height);
        let bytes = pair.draw(|frame| chat(frame, &said(50)));
        assert!(bytes.starts_with(b"\x1b[0m\x1b[2J"));
    }
    pair.parser.process(b"\x1b[10;10Hjunk of somebody else\x1b[?25l");
    pair.terminal.backend_mut().forget();
    pair.draw(|frame| chat(frame, &said(50)));
}

#[test]
fn tiny_terminals_do_not_panic() {
    for (width, height) in [(1, 1), (1, 2), (2, 1), (3, 2)] {
        let mut pair = Pair::new(width, height);
        for text in ["a", "界", "ab", ""] {
            pair.draw(|frame| frame.render_widget(Line::raw(text), frame.area()));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Whatever is drawn after whatever, the terminal shows it.
    #[test]
    fn the_terminal_shows_what_was_drawn(
        frames in prop::collection::vec((0_usize..40, "[ a-c界é]{0,30}", 0_u16..12, any::<bool>(), any::<bool>()), 1..12)
    ) {
        let mut pair = Pair::new(45, 12);
        for (end, text, row, coloured, whole) in frames {
            pair.draw(|frame| {
                chat(frame, &said(end));
                let style = if coloured { Style::new().bg(Color::Red).add_modifier(Modifier::BOLD) } else { Style::new() };
                let area = if whole { frame.area() } else { Rect::new(0, row, 45, 1) };
                frame.render_widget(Clear, area);
                frame.render_widget(Line::from(vec![Span::raw("x "), Span::styled(text, style)]), area);
            });
        }
    }
}
