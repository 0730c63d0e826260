"""What sharing keys and values between heads changes; each lesson is a module."""

from attnviz.experiments.sharing.head_sharing import Config as SharingConfig
from attnviz.experiments.sharing.head_sharing import Method
from attnviz.experiments.sharing.head_sharing import Result as SharingResult

__all__ = ["Method", "SharingConfig", "SharingResult", "downstream", "head_sharing", "live_layers"]
