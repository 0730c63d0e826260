"""The app as a website: the server, the main script and the menu of pages."""

__all__ = ["configuration", "link_preview", "navigation", "server", "serving"]
