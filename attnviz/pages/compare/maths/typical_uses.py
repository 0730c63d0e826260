"""Where recurrence, convolution and attention are used, and what each of the three costs at the sizes of that use."""

from dataclasses import dataclass

from attnviz.pages.compare.maths import layer_costs

LAYERS = ("lstm", "conv", "attention")


@dataclass(frozen=True)
class Use:
    """One layer of a published model: the kind that it is, and its sizes."""

    id: str
    usual: str  #: one of LAYERS
    model: str
    source: str
    sizes: layer_costs.Config

    @property
    def costs(self) -> dict[str, tuple[int, int, int]]:
        """FLOPs, steps that wait and longest path of each of LAYERS at these sizes, by kind."""
        sizes = self.sizes
        return {
            kind: (
                layer_costs.terms(kind, sizes).at(sizes),
                layer_costs.steps(kind, sizes.n),
                layer_costs.path(kind, sizes),
            )
            for kind in LAYERS
        }


def _use(id_: str, usual: str, model: str, source: str, n: int, d: int, k: int = 3, heads: int = 8) -> Use:
    return Use(id_, usual, model, source, layer_costs.Config(n, d, k, heads=heads))


#: 10 s of speech in frames of 30 ms; a week by the hour; maps of 56 x 56 and 568 x 568; a sentence; 196 patches; 8,192
USES = (
    _use("speech", "lstm", "RNN-T", "He et al. 2018, arXiv 1811.06621", 333, 640),
    _use("series", "lstm", "DeepAR", "Salinas et al. 2017, arXiv 1704.04110", 168, 40),
    _use("objects", "conv", "ResNet-50", "He et al. 2015, arXiv 1512.03385", 56 * 56, 64, 9),
    _use("regions", "conv", "U-Net", "Ronneberger et al. 2015, arXiv 1505.04597", 568 * 568, 64, 9),
    _use("translation", "attention", "Transformer", "Vaswani et al. 2017, arXiv 1706.03762", 30, 512),
    _use("patches", "attention", "ViT-B/16", "Dosovitskiy et al. 2020, arXiv 2010.11929", 197, 768, heads=12),
    _use("chat", "attention", "Llama 3.1 8B", "Grattafiori et al. 2024, arXiv 2407.21783", 8192, 4096, heads=32),
)

PROGRAM = """\
from attnviz.pages.compare.maths.typical_uses import USES

for use in USES:
    sizes = f"n={use.sizes.n}, d={use.sizes.d}, k={use.sizes.k}"
    flops = {kind: cost for kind, (cost, steps, path) in use.costs.items()}
    print(f"{use.model} ({sizes}) {flops}")
"""
