"""The panels of the explorer; each is a module."""

__all__ = ["head_panel", "panels", "request_form"]
