"""Importing this module declares every page's choices, without which no link can be read."""

from attnviz.ui.building import building_choices
from attnviz.ui.compare import compare_choices
from attnviz.ui.decoding import decoding_choices
from attnviz.ui.explorer import explorer_choices
from attnviz.ui.glossary import glossary_choices
from attnviz.ui.heads import heads_choices
from attnviz.ui.home import home_choices
from attnviz.ui.lessons import lesson_choices
from attnviz.ui.masks import mask_choices
from attnviz.ui.pictures import pictures_choices
from attnviz.ui.positions import positions_choices
from attnviz.ui.scaling import scaling_choices
from attnviz.ui.sharing import sharing_choices

DECLARED = (
    home_choices,
    lesson_choices,
    explorer_choices,
    heads_choices,
    pictures_choices,
    building_choices,
    mask_choices,
    positions_choices,
    scaling_choices,
    sharing_choices,
    compare_choices,
    decoding_choices,
    glossary_choices,
)
