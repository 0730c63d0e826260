"""What may stand in Latin letters on a page in Chinese: names, symbols and units. Each group says why."""

from __future__ import annotations

from attnviz.experiments.scaling import released_models
from attnviz.models.architecture import all_presets, claims
from attnviz.models.catalogue import CATALOGUE
from attnviz.ui.glossary import glossary_choices

assert glossary_choices
