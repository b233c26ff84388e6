# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""SVG by hand, for charts.py and gallery.py: text, lines and axes, with colours for light and dark pages and no other file."""
import html
import math

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
# A page in dark mode asks for the second colour of each; background and text change together, so either is readable.
COLOURS = {"page": ("#ffffff", "#16191d"), "text": ("#1d2125", "#e6e8ea"), "soft": ("#5d6670", "#a3abb3"), "rule": ("#d7dbdf", "#3a4047"),
           "ours": ("#c2410c", "#fb923c"), "first": ("#1d4ed8", "#7aa2f7"), "second": ("#0f766e", "#4fd1b5"), "third": ("#7c3aed", "#c4a5fb"), "fourth": ("#be185d", "#f48fb1"),
           "grey": ("#6b7280", "#9aa3ad")}


def style():
    def rules(which):
        return "".join(f".{name}{{fill:{pair[which]}}}.{name}-line{{stroke:{pair[which]}}}" for name, pair in COLOURS.items())
    return f"<style>{rules(0)}@media (prefers-color-scheme: dark){{{rules(1)}}}</style>"


class Drawing:
    """A picture of `width` by `height`; its title is what a screen reader says."""

    def __init__(self, width, height, title):
        self.width, self.height, self.parts = width, height, []
        self.title = title

    def text(self, x, y, words, colour="text", size=13, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{colour}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}">'
                          f"{html.escape(words)}</text>")

    def line(self, x1, y1, x2, y2, colour="rule", width=1.0, dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{colour}-line" stroke-width="{width}"{dashes}/>')

    def bar(self, x, y, width, height, colour="ours"):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0.5):.1f}" height="{height:.1f}" class="{colour}"/>')

    def dot(self, x, y, colour, radius=5.0):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" class="{colour}"/>')

    def curve(self, points, colour="ours", width=2.0):
        """Through points; those that are None leave a gap."""
        path, pen = [], "M"
        for point in points:
            if point is None:
                pen = "M"
                continue
            path.append(f"{pen}{point[0]:.1f},{point[1]:.1f}")
            pen = "L"
        self.parts.append(f'<path d="{" ".join(path)}" class="{colour}-line" fill="none" stroke-width="{width}"/>')

    def svg(self):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
                f'font-family="{FONT}">\n<title>{html.escape(self.title)}</title>\n{style()}\n'
                f'<rect width="{self.width}" height="{self.height}" rx="6" class="page"/>\n' + "\n".join(self.parts) + "\n</svg>\n")


def ticks(low, high, count=4):
    """Round numbers in [low, high], about `count` of them."""
    if not high > low:
        return [low]
    raw = (high - low) / count
    step = 10 ** math.floor(math.log10(raw))
    step *= next(factor for factor in (1, 2, 5, 10) if factor * step >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Plot:
    """Axes inside a drawing: `left, top, width, height` in the picture, and the numbers that they span."""

    def __init__(self, drawing, box, x, y):
        self.drawing, self.box, self.x, self.y = drawing, box, x, y

    def at(self, x, y):
        left, top, width, height = self.box
        return left + (x - self.x[0]) / (self.x[1] - self.x[0]) * width, top + height - (y - self.y[0]) / (self.y[1] - self.y[0]) * height

    def axes(self, label_x="", label_y="", size=11):
        left, top, width, height = self.box
        for value in ticks(*self.x):
            x, _ = self.at(value, self.y[0])
            self.drawing.line(x, top, x, top + height)
            self.drawing.text(x, top + height + size + 4, f"{value:g}", "soft", size, "middle")
        for value in ticks(*self.y, 3):
            _, y = self.at(self.x[0], value)
            self.drawing.line(left, y, left + width, y)
            self.drawing.text(left - 6, y + size / 3, f"{value:g}", "soft", size, "end")
        self.drawing.text(left + width, top + height + 2 * size + 8, label_x, "soft", size, "end")
        self.drawing.text(left, top - 7, label_y, "soft", size)

    def curve(self, points, colour="ours", width=2.0):
        self.drawing.curve([None if y is None else self.at(x, y) for x, y in points], colour, width)
