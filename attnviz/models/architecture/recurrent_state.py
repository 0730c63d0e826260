"""The fixed-size state of layers without softmax attention, in models that mix both kinds of layers.

Models that have only such layers (Mamba) need no rules here: they are measured on the meta device.
"""

from __future__ import annotations

from typing import Any


def recurrent_state_of(config: Any) -> tuple[int, int]:
    """Size of one layer's state: (numbers in the model's dtype, numbers in float32)."""
    if getattr(config, "linear_num_value_heads", None):
        return _delta_net(config)
    if getattr(config, "conv_L_cache", None):  # LFM2: a short convolution and nothing else
        return config.hidden_size * config.conv_L_cache, 0
    if getattr(config, "mamba_n_heads", None):
        return _mamba2(config)
    return _mamba(config)


def _delta_net(config: Any) -> tuple[int, int]:
    """Gated DeltaNet: a convolution over queries, keys and values, and a matrix per value head."""
    keys = config.linear_num_key_heads * config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim
    return (2 * keys + values) * config.linear_conv_kernel_dim, values * config.linear_key_head_dim


def _mamba(config: Any) -> tuple[int, int]:
    """Mamba: a convolution over the inner width, and d_state numbers per channel."""
    inner = config.mamba_expand * config.hidden_size
    return inner * config.mamba_d_conv, inner * config.mamba_d_state


def _mamba2(config: Any) -> tuple[int, int]:
    """Mamba 2: as Mamba, but the convolution also runs over the inputs that write to and read from the state."""
    inner = config.mamba_d_ssm or config.mamba_expand * config.hidden_size
    written = 2 * config.mamba_n_groups * config.mamba_d_state
    return (inner + written) * config.mamba_d_conv, inner * config.mamba_d_state
