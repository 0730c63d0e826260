"""Passes on a Ray, on this machine or a cluster: one after the other by replicas, many sentences by tasks."""

from attnviz.engine.on_ray.ray_engine import RayEngine

__all__ = ["RayEngine"]
