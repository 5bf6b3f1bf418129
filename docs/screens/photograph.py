#!/usr/bin/env python3
"""Makes a picture of a terminal: reads what `tmux capture-pane -e -N -p` prints, writes an SVG and a text file.

    tmux new-session -d -s photo -x 120 -y 40 kokua        # then bring the screen into the state to show
    tmux capture-pane -e -N -p -t photo | python3 docs/screens/photograph.py 120 40 docs/screens/120x40

Every cell stands on a grid; nothing of the capture is changed, and no font is embedded.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 14
BACKGROUND, FOREGROUND = "#16181d", "#d6d9e0"
COLOURS = [
    "#2b2f38", "#e06c75", "#8fc379", "#e0b968", "#6aa6f0", "#c586d8", "#5fbcc4", "#c8ccd4",
    "#7a8190", "#f08a92", "#aadb94", "#f2cf88", "#8cbcf8", "#d8a4e6", "#80d3da", "#ffffff",
]
SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x0e|\x0f")


def colour(number):
    """A colour of the palette of 256."""
    if number < 16:
        return COLOURS[number]
    if number < 232:
        levels = [0, 95, 135, 175, 215, 255]
        number -= 16
        return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])
    return "#%02x%02x%02x" % ((8 + (number - 232) * 10,) * 3)


class Style:
    """What holds for the next cell."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.foreground = self.background = None
        self.bold = self.dim = self.italic = self.underline = self.reverse = False

    def apply(self, parameters):
        numbers = [int(part or 0) for part in re.split("[;:]", parameters)]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.reset()
            elif number in (1, 2, 3, 4, 7):
                setattr(self, {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}[number], True)
            elif number == 22:
                self.bold = self.dim = False
            elif number in (23, 24, 27):
                setattr(self, {23: "italic", 24: "underline", 27: "reverse"}[number], False)
            elif number in (38, 48) and numbers:
                kind = numbers.pop(0)
                if kind == 5:
                    value = colour(numbers.pop(0))
                else:
                    value = "#%02x%02x%02x" % tuple(numbers[:3])
                    del numbers[:3]
                setattr(self, "foreground" if number == 38 else "background", value)
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.foreground = COLOURS[number % 10 + (8 if number >= 90 else 0)]
            elif 40 <= number <= 47 or 100 <= number <= 107:
                self.background = COLOURS[number % 10 + (8 if number >= 100 else 0)]
            elif number == 39:
                self.foreground = None
            elif number == 49:
                self.background = None

    def drawn(self):
        """Text colour, cell colour or nothing, and the other attributes of a text element."""
        ink, paper = self.foreground or FOREGROUND, self.background
        if self.reverse:
            ink, paper = paper or BACKGROUND, ink
        more = ' font-weight="bold"' if self.bold else ""
        more += ' font-style="italic"' if self.italic else ""
        more += ' text-decoration="underline"' if self.underline else ""
        more += ' opacity="0.62"' if self.dim else ""
        return ink, paper, more


def columns(character):
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def runs(line, style):
    """The line as (column, columns, text, style) with one style each."""
    made, column, at = [], 0, 0
    for match in [*SEQUENCE.finditer(line), None]:
        text = line[at:match.start()] if match else line[at:]
        if text:
            wide = sum(columns(character) for character in text)
            made.append((column, wide, text, style.drawn()))
            column += wide
        if match:
            at = match.end()
            if match.group(1) is not None:
                style.apply(match.group(1))
    return made


def picture(lines, width, height):
    across, down = width * CELL_WIDTH + 2 * MARGIN, height * CELL_HEIGHT + 2 * MARGIN
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {across:.0f} {down:.0f}" width="{across:.0f}" height="{down:.0f}"'
        f' font-family="ui-monospace, Menlo, Consolas, \'DejaVu Sans Mono\', monospace" font-size="{FONT_SIZE}">',
        f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
    ]
    style = Style()
    for row, line in enumerate(lines[:height]):
        top = MARGIN + row * CELL_HEIGHT
        for column, wide, text, (ink, paper, more) in runs(line, style):
            left = MARGIN + column * CELL_WIDTH
            if paper:
                out.append(
                    f'<rect x="{left:.1f}" y="{top}" width="{wide * CELL_WIDTH:.1f}" height="{CELL_HEIGHT}" fill="{paper}"/>'
                )
            # Words stand on the grid by themselves, whatever the font's own width is.
            for word in re.finditer(r"\S+(?: \S+)*", text):
                before = sum(columns(character) for character in text[: word.start()])
                length = sum(columns(character) for character in word.group())
                out.append(
                    f'<text x="{left + before * CELL_WIDTH:.1f}" y="{top + 13.5}" textLength="{length * CELL_WIDTH:.1f}"'
                    f' lengthAdjust="spacingAndGlyphs" fill="{ink}"{more} xml:space="preserve">{escape(word.group())}</text>'
                )
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    width, height, target = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    lines = sys.stdin.buffer.read().decode("utf-8").split("\n")
    with open(target + ".svg", "w", encoding="utf-8") as file:
        file.write(picture(lines, width, height))
    plain = [SEQUENCE.sub("", line).rstrip() for line in lines[:height]]
    with open(target + ".txt", "w", encoding="utf-8") as file:
        file.write("\n".join(plain).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
