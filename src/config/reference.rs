//! The reference of every key as Markdown, made from the declarations. Nothing here is written by hand elsewhere.

use std::fmt::Write as _;

use super::settings::{Applies, SECTIONS, SHIPPED_LOCKS, Section, Setting, locked_by};

/// One table for each section: key, value, default, when a change holds, what it is.
pub fn reference() -> String {
    let mut text = String::new();
    for section in SECTIONS {
        let _ = write!(text, "### `[{}]`\n\n{}\n\n", section.path, section.doc);
        text.push_str("| key | value | default | change | what it is |\n|---|---|---|---|---|\n");
        for setting in section.settings.iter().chain(&section.any_key) {
            row(&mut text, section, setting);
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn row(text: &mut String, section: &Section, setting: &Setting) {
    let applies = match setting.applies {
        Applies::Hot => "hot",
        Applies::Cold => "cold",
    };
    let locked = locked_by(section.path, setting.key, SHIPPED_LOCKS.iter().copied()).map_or("", |_| ", locked");
    let cell = |text: String| text.replace('|', "\\|");
    let _ = writeln!(
        text,
        "| `{}` | {} | {} | {applies}{locked} | {} |",
        setting.key,
        cell(setting.kind.describe()),
        cell(setting.default.describe()),
        cell(setting.doc.to_owned()),
    );
}
