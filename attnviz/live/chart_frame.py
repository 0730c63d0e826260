"""The frame of a chart in a file: title above, caption below. plotly.js draws the chart into it."""

from dataclasses import dataclass
from typing import Any

from attnviz.live import canvas_wording

CHART = "<!--chart-->"  #: what stands for the chart


@dataclass(frozen=True)
class ChartFrame:
    """An empty place of this size."""

    width: float
    height: float
    title: str = ""

    @property
    def scene(self) -> str:
        return "chart"

    @property
    def header(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "height": self.height,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
        }

    @property
    def payload(self) -> bytes:
        return b""
