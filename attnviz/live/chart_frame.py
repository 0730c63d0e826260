"""The frame of a chart in a file: title above, caption below. plotly.js draws the chart into it."""

from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz.live import canvas_wording

CHART = "<!--chart-->"  #: what stands for the chart


@dataclass(frozen=True)
class ChartFrame:
    """An empty place of this size."""

    scene: ClassVar[str] = "chart"
    payload: ClassVar[bytes] = b""
    width: float
    height: float
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        return {
            "width": self.width,
            "height": self.height,
            "title": self.title,
            "colours": canvas_wording.scene_colours(),
        }
