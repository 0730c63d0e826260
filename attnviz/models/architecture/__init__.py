"""A model's attention worked out from its config: parameters, FLOPs, cache bytes, and the hardware they need."""

from attnviz.models.architecture.architecture import (
    Architecture,
    CustomShape,
    Scheme,
    as_latent,
    has_heads,
    shared_otherwise,
)
from attnviz.models.architecture.configs import config_from_text
from attnviz.models.architecture.deployment import FARTHEST, Deployment, Size, size_deployment, whole_pass
from attnviz.models.architecture.layer_spec import CONVENTIONS, Convention, LayerSpec
from attnviz.models.architecture.meta_device import Measurement, ParameterCounts, count_parameters, measure_on_meta
from attnviz.models.architecture.presets import GIB, HELD_TOKENS, Gpu, Preset, all_presets, find_preset, gpus, quality
from attnviz.models.architecture.published_claims import Claim, claims

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
    "as_latent",
    "claims",
    "config_from_text",
    "count_parameters",
    "find_preset",
    "gpus",
    "has_heads",
    "measure_on_meta",
    "quality",
    "shared_otherwise",
    "size_deployment",
    "whole_pass",
]
