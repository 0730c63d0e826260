"""A model's attention worked out from its config: parameters, FLOPs, cache bytes, and the hardware they need."""

from attnviz.models.architecture.architecture import Architecture, CustomShape, Scheme
from attnviz.models.architecture.configs import config_from_text
from attnviz.models.architecture.deployment import FARTHEST, Deployment, Size, size_deployment, size_full_pass
from attnviz.models.architecture.layer_spec import CONVENTIONS, Convention, LayerSpec
from attnviz.models.architecture.meta_device import Measurement, ParameterCounts, count_parameters, measure_on_meta
from attnviz.models.architecture.presets import (
    GIB,
    HELD_TOKENS,
    Gpu,
    Preset,
    all_presets,
    find_preset,
    gpus,
    published_quality,
)
from attnviz.models.architecture.published_claims import Claim, published_claims
from attnviz.models.architecture.ways import (
    has_heads,
    kv_head_divisors,
    latent_scheme,
    scheme_name,
    sharing_schemes,
    with_compressed_cache,
    with_kv_heads,
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
    "config_from_text",
    "count_parameters",
    "find_preset",
    "gpus",
    "has_heads",
    "kv_head_divisors",
    "latent_scheme",
    "measure_on_meta",
    "published_claims",
    "published_quality",
    "scheme_name",
    "sharing_schemes",
    "size_deployment",
    "size_full_pass",
    "with_compressed_cache",
    "with_kv_heads",
]
