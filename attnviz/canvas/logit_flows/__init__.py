"""What each part of a model adds to a word or takes from it, as flows up the layers; a head's is cut by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

from attnviz.base.words import _
from attnviz.canvas.shared.component import mount_component
from attnviz.figures.theme import ALTERNATIVE, PRIMARY, SCALED, THEORY
from attnviz.live import canvas_wording


class Flow(NamedTuple):
    """A part, or all parts of a layer without a flow of their own (kind "rest"); layer -1 is below the first."""

    name: str
    kind: Literal["head", "mlp", "rest"]
    layer: int
    value: float  #: what it adds to the lead
    before: float  #: the same before a head was cut


@dataclass(frozen=True, eq=False)
class LogitFlowsFigure:
    """The picture for the page and for files. Flows add up to the lead of the first word over the second."""

    scene: ClassVar[str] = "flows"
    payload: ClassVar[bytes] = b""
    flows: Sequence[Flow]
    layers: int
    targets: tuple[str, str | None]  #: None: nothing is compared, the logit alone
    prompt: str
    head: str  #: the chosen head, "23.4"
    cut: bool = False  #: whether the model ran without it
    title: str = ""

    @property
    def header(self) -> dict[str, Any]:
        token, versus = self.targets
        return {
            "flows": [list(flow) for flow in self.flows],
            "layers": self.layers,
            "targets": [token, versus or _("against it")],
            "prompt": self.prompt,
            "head": self.head,
            "cut": self.cut,
            "title": self.title,
            "kinds": {"head": SCALED, "mlp": ALTERNATIVE, "rest": THEORY},
            "pair": list(PRIMARY),
            "colours": canvas_wording.scene_colours(),
            "words": _texts() | canvas_wording.joining_text() | ({} if versus else _texts_of_logit()),
        }


def logit_flows(
    key: str, figure: LogitFlowsFigure, *, on_cut: Callable[[tuple[str, bool]], None] | None = None
) -> None:
    """Draw the flows; `on_cut` receives which head is chosen, and whether it is cut. None: none can be cut."""
    heads = {flow.name for flow in figure.flows if flow.kind == "head"}

    def read_cut(report: dict[str, Any]) -> tuple[str, bool] | None:
        head = report.get("head")
        return (head, report.get("cut") is True) if head in heads else None

    header = figure.header | {"cuts": on_cut is not None}
    mount_component("logit_flows", key, "stood", header, read_cut, on_cut or (lambda _cut: None))


def _texts_of_logit() -> dict[str, str]:
    """What is worded otherwise where nothing is compared."""
    return {
        "lead": _("logit"),
        "heard": _("The logit of {token} is {lead}: {plus} for it, {minus} against it. Enter cuts a flow."),
    }


def _texts() -> dict[str, str]:
    """Words of the picture; {names} are filled in by the browser."""
    return {
        "film": _("What adds up, layer by layer"),
        "step": _("Layers so far"),
        "play": _("Play"),
        "pause": _("Pause"),
        "layer": _("layer"),
        "so_far": _("so far"),
        "lead": _("lead"),
        "before": _("before the cut: {lead}"),
        "rest": _("Grey: the rest of each layer, and what enters the first."),
        "help": _("Click a head’s flow, or draw across it, to cut it: the model runs again without it."),
        "adds": _("{name} adds {value} for “{token}”."),
        "cut_it": _("Click to cut it."),
        "restore": _("It is cut. Click to let it flow again."),
        "kept": _("Only a head can be cut."),
        "others": _("The rest of layer {layer}"),
        "enters": _("The input of the first layer, with biases,"),
        "heard": _("{token} is {lead} ahead: {plus} for it, {minus} for {versus}. Arrow keys go to flows, Enter cuts."),
    }
