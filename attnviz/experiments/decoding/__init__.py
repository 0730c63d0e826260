"""Writing token by token with a cache of keys and values: what it holds, saves and costs; each lesson is a module."""

__all__ = [
    "cache_traps",
    "decoders",
    "decoding_snippets",
    "growing_bytes",
    "kept_positions",
    "measured_file",
    "prefill_and_decode",
    "prepared_policies",
    "quantised_cache",
    "teacher_forcing",
    "token_by_token",
]
