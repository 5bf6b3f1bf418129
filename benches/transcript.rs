//! What a frame of the transcript costs: long, resized, streamed, scrolled, and markdown by itself.
#![cfg(test)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kokua::agent::message::UserOrigin;
use kokua::ui::text::markdown;
use kokua::ui::theme::{Colours, Theme};
use kokua::ui::transcript::{Block, Delivery, Transcript};

const WIDTH: u16 = 200;
const HEIGHT: u16 = 60;

/// About 2,000 characters with everything that answers are made of.
fn answer(number: usize) -> String {
    let mut text = format!("## Part {number}\n\nSome *emphasis*, `code` and a [link](https://example.org/{number}). ");
    text.push_str(&"The words of a paragraph go on for a while so that they wrap. ".repeat(6));
    text.push_str("\n\n- one point\n- another, **strong**\n  - nested\n\n```rust\n");
    for line in 0..12 {
        let _ = writeln!(text, "fn part_{line}(number: u32) -> String {{ format!(\"{{number}} of {line}\") }} // why");
    }
    text.push_str(
        "```\n\n| name | what | bytes |\n|---|---|---:|\n| fs | reads | 120 |\n| web | fetches | 3,400 |\n\n",
    );
    text
}

fn theme() -> Theme {
    Theme::shipped("default", Colours::Ansi).unwrap_or_else(|_| Theme::plain())
}

/// About 100,000 lines in about 6,000 blocks.
fn long() -> Transcript {
    let mut transcript = Transcript::new();
    for number in 0..3_000 {
        let text = format!("question {number}");
        transcript.push(Block::User { from: None, text, origin: UserOrigin::Person, delivery: Delivery::Delivered });
        transcript.push(Block::Assistant { agent: "assistant".to_owned(), text: answer(number) });
    }
    transcript
}

fn frames(criterion: &mut Criterion) {
    let theme = theme();
    let mut transcript = long();
    let first = transcript.render(WIDTH, HEIGHT, &theme);
    assert!(first.above > 60_000, "{} lines above are not long", first.above);
    criterion.bench_function("long/frame", |bench| bench.iter(|| black_box(transcript.render(WIDTH, HEIGHT, &theme))));
    criterion.bench_function("long/scroll a page", |bench| {
        bench.iter(|| {
            transcript.page_up();
            black_box(transcript.render(WIDTH, HEIGHT, &theme))
        });
    });
    transcript.end();
    transcript.scroll(-40_000);
    transcript.render(WIDTH, HEIGHT, &theme);
    let mut width = WIDTH;
    criterion.bench_function("long/resize", |bench| {
        bench.iter(|| {
            width = if width == WIDTH { WIDTH - 60 } else { WIDTH };
            black_box(transcript.render(width, HEIGHT, &theme))
        });
    });
    criterion.bench_function("long/search", |bench| {
        bench.iter(|| {
            black_box(transcript.search("part_11 nowhere"));
            black_box(transcript.render(WIDTH, HEIGHT, &theme))
        });
    });
}

fn streaming(criterion: &mut Criterion) {
    let theme = theme();
    let text: String = (0..10).map(answer).collect();
    let characters: Vec<char> = text.chars().collect();
    let deltas: Vec<String> =
        characters.chunks(characters.len().div_ceil(5_000)).map(|piece| piece.iter().collect()).collect();
    let mut group = criterion.benchmark_group("stream");
    group.measurement_time(Duration::from_secs(10)).sample_size(10);
    for every in [1, 10] {
        group.bench_function(format!("5,000 deltas, a frame for each {every}"), |bench| {
            bench.iter_batched(
                Transcript::new,
                |mut transcript| {
                    let id = transcript.push(Block::Assistant { agent: "assistant".to_owned(), text: String::new() });
                    for (number, delta) in deltas.iter().enumerate() {
                        transcript.append_text(id, delta);
                        if number % every == 0 {
                            black_box(transcript.render(WIDTH, HEIGHT, &theme));
                        }
                    }
                    transcript
                },
                BatchSize::PerIteration,
            );
        });
    }
    // The worst of shapes: one block that never ends.
    let code = format!("```rust\n{}", "let number = 42; // what is laid out stays\n".repeat(2_000));
    let list = "- a point of a list that goes on and on\n".repeat(2_000);
    for (name, text) in [("code", code), ("list", list)] {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        group.bench_function(format!("2,000 lines of one {name}, a frame for each 20"), |bench| {
            bench.iter_batched(
                Transcript::new,
                |mut transcript| {
                    let id = transcript.push(Block::Assistant { agent: "assistant".to_owned(), text: String::new() });
                    for piece in lines.chunks(20) {
                        transcript.append_text(id, &piece.concat());
                        black_box(transcript.render(WIDTH, HEIGHT, &theme));
                    }
                    transcript
                },
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

fn pages(criterion: &mut Criterion) {
    let theme = theme();
    let text: String = (0..20).map(answer).collect();
    criterion.bench_function("markdown/40 kB", |bench| bench.iter(|| black_box(markdown::lines(&text, 120, &theme))));
    let prose: String = text.split("```").step_by(2).collect();
    criterion.bench_function("markdown/40 kB without its code", |bench| {
        bench.iter(|| black_box(markdown::lines(&prose, 120, &theme)));
    });
}

criterion_group!(benches, frames, streaming, pages);
criterion_main!(benches);
