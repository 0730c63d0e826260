"""Lines of a program that make weights from q and k in each way: raw, scaled, and the alternatives."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.core.temperature import COLDEST

IMPORTS = ["import math", "", "import torch", "import torch.nn.functional as F", ""]

_LOGITS = {
    "raw": "q @ k.mT",
    "sqrt": "(q @ k.mT) * (1 / math.sqrt(d))",
    "temperature": "(q @ k.mT) * (1 / (math.sqrt(d) * {p}))",
    "inverse": "(q @ k.mT) * ({p} / d)",
    "qk-norm": "(F.normalize(q, dim=-1) * {p}) @ F.normalize(k, dim=-1).mT",
    "softcap": "{p} * torch.tanh((q @ k.mT) * (1 / math.sqrt(d)) / {p})",
    "log-n": "(q @ k.mT) * (1 / math.sqrt(d) * math.log(k.shape[-2]) / math.log({p}))",
    "sink": "(q @ k.mT) * (1 / math.sqrt(d))",
}
ENTROPY = [
    "def entropy(p):  # nats; a sink's share is left out",
    "    p = p / p.sum(-1, keepdim=True)",
    "    return -torch.special.xlogy(p, p).sum(-1)",
    "",
]


def weights(parameters: Mapping[str, float | str]) -> list[str]:
    """Lines that define `logits(q, k, way)` and `weights(q, k, way)` for these ways, each with its parameter."""
    lines = ["def logits(q, k, way):", "    d = q.shape[-1]"]
    for way, parameter in parameters.items():
        cold = way == "temperature" and float(parameter) <= COLDEST
        said = _LOGITS["raw" if cold else way].format(p=parameter)
        lines += [f'    if way == "{way}":', f"        return {said}"]
    lines += ["", "def weights(q, k, way):", "    z = logits(q, k, way)"]
    if "sink" in parameters:
        lines += [
            '    if way == "sink":',
            f"        sink = torch.full_like(z[..., :1], {parameters['sink']})",
            "        return torch.cat([z, sink], -1).softmax(-1)[..., :-1]",
        ]
    if "temperature" in parameters and float(parameters["temperature"]) <= COLDEST:
        lines += [
            '    if way == "temperature":  # at 0 the largest scores share all the weight',
            "        top = (z == z.amax(-1, keepdim=True)).float()",
            "        return top / top.sum(-1, keepdim=True)",
        ]
    return [*lines, "    return z.softmax(-1)", ""]
