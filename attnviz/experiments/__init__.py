"""Where the maths lay until each page had a folder: old names still import, with a warning that names the new ones.

What several pages use is in `attnviz.runs`, all else in `attnviz.pages.PAGE.maths`.
"""

import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGE = Path(__file__).parents[1]
FOLDERS = {"building": "build", "explorer": "explore"}  #: those whose page has another name
RENAMED = {
    "WhatIf": ("attnviz.base.head_edit", "HeadEdit")
}  #: what has another name now; its field `pattern` is `mask`

#: modules that were joined to another one since
JOINED = {
    "building.many_heads": "attnviz.pages.build.maths.whys",
    "building.mixing_matrix": "attnviz.pages.build.maths.whys",
    "building.normalisers": "attnviz.pages.build.maths.whys",
    "building.sheets": "attnviz.pages.build.maths.boards",
    "building.steps": "attnviz.pages.build.maths.attention_by_hand",
    "compare.compare_snippets": "attnviz.pages.compare.maths.compared_layers",
    "compare.measured_on": "attnviz.pages.compare.maths.layer_timing",
    "compare.timing_process": "attnviz.pages.compare.maths.own_process",
    "compare.training_process": "attnviz.pages.compare.maths.own_process",
    "compare.reach": "attnviz.pages.compare.maths.reach_training",
    "compare.counted_costs": "attnviz.pages.compare.maths.compared_layers",
    "compare.shared_parameters": "attnviz.pages.compare.maths.compared_layers",
    "compare.heads_as_kernel": "attnviz.pages.compare.maths.position_mixing",
    "decoding.cache_traps.unshifted_positions": "attnviz.pages.decoding.maths.cache_traps",
    "decoding.cache_traps.wrong_dimension": "attnviz.pages.decoding.maths.cache_traps",
    "decoding.teacher_forcing": "attnviz.pages.decoding.maths.decoders",
    "decoding.prepared_policies": "attnviz.pages.decoding.maths.kept_positions",
    "explorer.aligned_sentences": "attnviz.pages.explore.maths.one_head",
    "explorer.head_measures": "attnviz.pages.explore.maths.whole_model",
    "explorer.head_stages": "attnviz.pages.explore.maths.one_head",
    "explorer.raw_heads": "attnviz.runs.head_matrix",
    "explorer.model_parts": "attnviz.pages.explore.maths.whole_model",
    "heads.prepared_surveys": "attnviz.pages.heads.maths.head_survey",
    "heads.head_kinds": "attnviz.pages.heads.maths.head_survey",
    "home.landing": "attnviz.pages.home.maths",
    "lessons.subject": "attnviz.pages.lessons.maths.lesson_parts",
    "masks.far_view": "attnviz.pages.masks.maths.mask_lab",
    "masks.traps.before_scaling": "attnviz.pages.masks.maths.traps.fills",
    "masks.traps.fill": "attnviz.pages.masks.maths.traps.fills",
    "masks.traps.softmax_first": "attnviz.pages.masks.maths.traps.fills",
    "masks.traps.expanded_heads": "attnviz.pages.masks.maths.traps.heads",
    "masks.traps.head_slices": "attnviz.pages.masks.maths.traps.heads",
    "masks.traps.query_heads_of_keys": "attnviz.pages.masks.maths.traps.heads",
    "masks.traps.query_length": "attnviz.pages.masks.maths.traps.heads",
    "masks.traps.dropout_in_eval": "attnviz.pages.masks.maths.traps.layers",
    "masks.traps.floor_division": "attnviz.pages.masks.maths.traps.layers",
    "masks.traps.linear_weight": "attnviz.pages.masks.maths.traps.layers",
    "masks.traps.unused_projections": "attnviz.pages.masks.maths.traps.layers",
    "masks.traps.cropped_mask": "attnviz.pages.masks.maths.traps.places",
    "masks.traps.ignored_mask": "attnviz.pages.masks.maths.traps.fills",
    "masks.traps.left_padding": "attnviz.pages.masks.maths.traps.places",
    "masks.traps.meaning": "attnviz.pages.masks.maths.traps.layers",
    "masks.traps.integer_positions": "attnviz.pages.masks.maths.traps.places",
    "masks.traps.odd_axes": "attnviz.pages.masks.maths.traps.places",
    "pictures.changed_weights": "attnviz.pages.pictures.maths.patch_measures",
    "pictures.picture_edits": "attnviz.pages.pictures.maths.picture_record",
    "pictures.picture_program": "attnviz.pages.pictures.maths.patch_measures",
    "pictures.windowed_run": "attnviz.pages.pictures.maths.picture_record",
    "pictures.smallest_patches": "attnviz.pages.pictures.maths.picture_run",
    "scaling.length": "attnviz.pages.scaling.maths.alternatives",
    "scaling.released_models": "attnviz.pages.scaling.maths.alternatives",
    "scaling.jacobian": "attnviz.pages.scaling.maths.softmax",
    "scaling.softmax_numerics": "attnviz.pages.scaling.maths.softmax",
    "scaling.draws": "attnviz.pages.scaling.maths.variance",
    "positions.longer_context": "attnviz.pages.positions.maths.rotation",
    "positions.pair_rotation": "attnviz.pages.positions.maths.rotation",
    "positions.position_kinds": "attnviz.pages.positions.maths.position_scores",
    "positions.video_attention": "attnviz.pages.positions.maths.video",
    "positions.video_axes": "attnviz.pages.positions.maths.video",
    "sharing.live_layers": "attnviz.pages.sharing.maths",
    "sharing.downstream": "attnviz.runs.head_sharing",
    "heads.head_work": "attnviz.runs.heads.removal_costs",
    "heads.growing_scores": "attnviz.runs.heads.scan",
    "heads.head_means": "attnviz.runs.heads.removal_costs",
    "heads.head_patterns": "attnviz.runs.heads.scan",
    "heads.head_scores": "attnviz.runs.heads.scan",
    "masks.traps.top_left": "attnviz.runs.traps",
    "masks.traps.trap": "attnviz.runs.traps",
}


def new_places(page: str) -> Iterator[str]:
    """The modules in which something of a page's old folder may lie now."""
    for folder in (f"pages/{FOLDERS.get(page, page)}/maths", "runs"):
        for file in (*sorted((PACKAGE / folder).rglob("*.py")), *(PACKAGE / folder).parent.glob("maths.py")):
            yield ".".join(("attnviz", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")


class _Moved:
    """Finds and loads modules under their old names."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        old = name.removeprefix(f"{__name__}.").split(".")
        if old[0] == name.split(".")[0]:
            return None
        joined = JOINED.get(".".join(old))
        ending = "." + ".".join(old[1:] or old)
        places = [joined] if joined else [place for place in new_places(old[0]) if place.endswith(ending)]
        if len(old) == 1 and any((PACKAGE / "pages" / FOLDERS.get(old[0], old[0])).glob("maths*")):
            return spec_from_loader(name, self, is_package=True)  # type: ignore[arg-type]
        return spec_from_loader(name, self, origin=places[0], is_package=True) if places else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """None: an ordinary empty module, to begin with."""

    def exec_module(self, module: ModuleType) -> None:
        name, place = module.__name__, module.__spec__ and module.__spec__.origin
        if place:
            warnings.warn(f"{name} is now {place}", DeprecationWarning, stacklevel=2)
            sys.modules[name] = import_module(place)
        else:
            module.__getattr__ = lambda wanted: _of_old_face(module, wanted)  # type: ignore[method-assign]


def _of_old_face(package: ModuleType, name: str) -> Any:
    """What the old folder's `__init__` exported: a class or a function of one of its modules."""
    for place in new_places(package.__name__.rpartition(".")[2]):
        file = PACKAGE.parent / place.replace(".", "/")
        text = (file.with_suffix(".py") if not file.is_dir() else file / "__init__.py").read_text("utf-8")
        if not name.startswith("_") and re.search(rf"^(def|class) {re.escape(name)}\b", text, re.MULTILINE):
            warnings.warn(f"{package.__name__}.{name} is now in {place}", DeprecationWarning, stacklevel=3)
            return getattr(import_module(place), name)
    if name in RENAMED:
        place, now = RENAMED[name]
        warnings.warn(f"{package.__name__}.{name} is now {place}.{now}", DeprecationWarning, stacklevel=3)
        return getattr(import_module(place), now)
    raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")


sys.meta_path.insert(0, _Moved())  # before Python looks into a moved package itself
