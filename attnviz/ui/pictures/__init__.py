"""The parts of the page about pictures; each is a module."""

from attnviz.ui.pictures.picture_cache import ChosenPicture

__all__ = ["ChosenPicture", "model_choice", "picture_input", "picture_panel", "pictures_choices"]
