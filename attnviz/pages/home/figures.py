"""What attention is, in one picture: a token's new vector as a mixture of others, each line as thick as its weight."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnviz.base.words import _, listed
from attnviz.figures import svg
from attnviz.figures.theme import FONT, K_VERMILION, MASKED, Q_BLUE

WIDE, HIGH, MOST = 400, 128, 4


@dataclass(frozen=True)
class MixturePicture:
    """`token` looks at `tokens` with `weights`; the largest are drawn, the rest as one."""

    token: str
    tokens: Sequence[str]
    weights: np.ndarray

    def parts(self) -> list[tuple[str, float]]:
        """What is drawn: the largest weights in the order of the sentence, then all others together."""
        seen = np.nan_to_num(self.weights)
        first = sorted(int(i) for i in np.argsort(-seen, kind="stable")[:MOST] if seen[i] > 0)
        rest = float(seen.sum() - seen[first].sum())
        shown = [(svg.visible(self.tokens[i]), float(seen[i])) for i in first]
        return [*shown, (_("others"), rest)] if rest > 0.005 else shown

    def svg(self) -> str:
        """A picture of its own in the page's colours."""
        parts = self.parts()
        step = WIDE / len(parts)
        lines, labels = [], []
        for at, (name, weight) in enumerate(parts):
            x = (at + 0.5) * step
            d = f"M{svg.number(x)} 30C{svg.number(x)} 70 {WIDE / 2} 56 {WIDE / 2} 98"
            lines.append(
                f'<path d="{d}" fill="none" stroke="{K_VERMILION}" stroke-opacity="0.75" '
                f'stroke-width="{svg.number(max(0.8, 16 * weight))}"/>'
            )
            away = 8 + 6 * weight  # on the side that the line does not bend to, so that it strikes no number through
            side = {"x": x - away, "anchor": "end"} if x < WIDE / 2 else {"x": x + away, "anchor": "start"}
            labels += _chip(svg.cut(name, step - 18, 14), x, 15, MASKED, 0.28)
            labels.append(svg.words(f"{weight:.0%}", y=46, size=14, weight=700, **side))  # type: ignore[arg-type]
        new = _("new vector of “{token}”").format(token=self.token.strip())
        labels += _chip(svg.cut(new, 220, 14), WIDE / 2, 112, Q_BLUE, 1)
        named = listed(f"{name} {weight:.0%}" for name, weight in parts)
        label = _("The new vector of “{token}” is a mixture: {parts}.").format(token=self.token.strip(), parts=named)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" fill="currentColor" role="img" '
            f'aria-label="{html.escape(label)}" font-family="{html.escape(FONT)}">{"".join(lines + labels)}</svg>'
        )


def _chip(text: str, x: float, y: float, colour: str, opacity: float) -> list[str]:
    wide = svg.text_width(text, 14) + 16
    return [
        svg.box(x - wide / 2, y - 14, wide, 28, fill=colour, radius=7, opacity=opacity),
        svg.words(text, x, y, size=14, fill="#FFFFFF" if opacity == 1 else "", anchor="middle"),
    ]
