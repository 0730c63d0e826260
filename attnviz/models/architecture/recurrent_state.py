"""Numbers that layers without softmax attention keep, however long the text."""

from __future__ import annotations

from typing import Any


def recurrent_state_of(config: Any) -> tuple[int, int]:
    """(numbers in the model's dtype, numbers in float32) of one such layer's state."""
    if getattr(config, "linear_num_value_heads", None):
        return _delta_net(config)
    if getattr(config, "conv_L_cache", None):  # LFM2: a short convolution and nothing else
        return config.hidden_size * config.conv_L_cache, 0
    if getattr(config, "mamba_n_heads", None):
        return _mamba2(config.mamba_d_ssm or config.mamba_expand * config.hidden_size, config, "mamba_")
    if getattr(config, "num_heads", None) and getattr(config, "n_groups", None):
        return _mamba2(config.expand * config.hidden_size, config, "")
    return _mamba(config)


def _delta_net(config: Any) -> tuple[int, int]:
    """Gated DeltaNet: a convolution over queries, keys and values, and a matrix per value head."""
    keys = config.linear_num_key_heads * config.linear_key_head_dim
    values = config.linear_num_value_heads * config.linear_value_head_dim
    return (2 * keys + values) * config.linear_conv_kernel_dim, values * config.linear_key_head_dim


def _mamba(config: Any) -> tuple[int, int]:
    """Mamba: a convolution over the inner width, and d_state numbers per channel."""
    prefix = "mamba_" if getattr(config, "mamba_expand", None) else ""
    inner = getattr(config, prefix + "expand") * config.hidden_size
    kernel = getattr(config, "mamba_d_conv", None) or config.conv_kernel
    return inner * kernel, inner * (getattr(config, "mamba_d_state", None) or config.state_size)


def _mamba2(inner: int, config: Any, prefix: str) -> tuple[int, int]:
    """Mamba 2: the convolution also runs over what writes to and reads from the state."""
    state = getattr(config, "mamba_d_state", None) or config.state_size
    groups = getattr(config, prefix + "n_groups")
    kernel = getattr(config, "mamba_d_conv", None) or config.conv_kernel
    return (inner + 2 * groups * state) * kernel, inner * state
