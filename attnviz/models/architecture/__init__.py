"""A model's attention worked out from its config: parameters, FLOPs, cache bytes, and the hardware they need."""

from attnviz.models.architecture.architecture import Architecture, CustomShape, Scheme
from attnviz.models.architecture.configs import config_from_text
from attnviz.models.architecture.deployment import FARTHEST, Deployment, Size, size_deployment, whole_pass
from attnviz.models.architecture.layer_spec import CONVENTIONS, Convention, LayerSpec
from attnviz.models.architecture.meta_device import Measurement, ParameterCounts, count_parameters, measure_on_meta
from attnviz.models.architecture.presets import GIB, HELD_TOKENS, Gpu, Preset, all_presets, find_preset, gpus, quality
from attnviz.models.architecture.published_claims import Claim, claims
from attnviz.models.architecture.ways import (
    compressed,
    divisors,
    has_heads,
    latents,
    named,
    shared_otherwise,
    ways,
)

__all__ = [
    "CONVENTIONS",
    "FARTHEST",
    "GIB",
    "HELD_TOKENS",
    "Architecture",
    "Claim",
    "Convention",
    "CustomShape",
    "Deployment",
    "Gpu",
    "LayerSpec",
    "Measurement",
    "ParameterCounts",
    "Preset",
    "Scheme",
    "Size",
    "all_presets",
    "claims",
    "compressed",
    "config_from_text",
    "count_parameters",
    "divisors",
    "find_preset",
    "gpus",
    "has_heads",
    "latents",
    "measure_on_meta",
    "named",
    "quality",
    "shared_otherwise",
    "size_deployment",
    "ways",
    "whole_pass",
]
