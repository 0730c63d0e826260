"""Caches that all visitors share: models, their runs, charts; bounded in bytes."""
