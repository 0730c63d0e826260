"""Links to every page and to each of its sections, by declaration: what is added to the app is walked, too."""

from collections.abc import Iterator

from attnviz.app.links.choices import Choice
from attnviz.pages.born import choices as born_choices
from attnviz.pages.build import choices
from attnviz.pages.compare import choices as compare_choices
from attnviz.pages.decoding import choices as decoding_choices
from attnviz.pages.explore import choices as explorer_choices
from attnviz.pages.fast import choices as fast_choices
from attnviz.pages.lessons.panels import open_lesson
from attnviz.pages.pictures import choices as pictures_choices
from attnviz.pages.positions import choices as positions_choices
from attnviz.pages.scaling import choices as scaling_choices
from attnviz.pages.sharing import choices as sharing_choices
from attnviz.pages.why import choices as why_choices
from attnviz.serve import page_table

#: A page's sections, whose content differs.
SECTIONS: dict[str, tuple[Choice[str], ...]] = {
    "born": (born_choices.SECTION,),
    "build": (choices.QUESTION,),
    "compare": (compare_choices.SECTION,),
    "decoding": (decoding_choices.VIEW,),
    "fast": (fast_choices.SECTION,),
    "pictures": (pictures_choices.SOURCE,),
    "positions": (positions_choices.SECTION,),
    "scaling": (scaling_choices.SECTION,),
    "sharing": (sharing_choices.VIEW,),
    "why": (why_choices.SECTION,),
}
#: What no choice of a section shows: all panels of a head, a step in the middle, a page that is presented.
BESIDES = (
    "masks?m_rule1=window&m_layers=3",
    "explore?" + "&".join(f"{choice.name}=true" for choice in explorer_choices.OPEN.values()),
    "mistakes?mistake=group_num&guess=group_num.3",
    "build?b_step=softmax&b_kind=cross&b_mask=causal",
    "lessons?lesson=heads&step=3&l_notes=true",
    "lessons?lesson=row&step=2&present=1",
    "?present=1",
    "heads?present=1",
    "glossary?present=1",
)


def views() -> Iterator[str]:
    """Links to every page, every section of one, and in each lesson to a kind of picture that none before it shows."""
    for row in page_table.PAGES:
        if row.name == "lessons":
            continue
        name = "" if row.is_home else row.name
        yield name
        for choice in SECTIONS.get(row.name, ()):
            yield from (f"{name}?{choice.name}={id}" for id in choice.ids if id != choice.default)
    kinds = set()
    for lesson in open_lesson.LESSONS.values():
        shown = [step.picture.kind for step in lesson.steps]
        if new := [kind for kind in shown if kind not in kinds]:
            yield f"lessons?lesson={lesson.id}&step={1 + shown.index(new[0])}"
        kinds.update(shown)
    yield from BESIDES


def page_of(view: str) -> str:
    """The name of the page that a link opens; the start page has none."""
    return view.split("?")[0]
