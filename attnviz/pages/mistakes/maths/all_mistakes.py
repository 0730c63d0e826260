"""All mistakes by topic and id."""

from attnviz.pages.mistakes.maths.mistake import Mistake
from attnviz.pages.mistakes.maths.programs import cache, heads, layers, masks, positions, tiles

_FILES = {"masks": masks, "layers": layers, "heads": heads, "positions": positions, "cache": cache, "tiles": tiles}
#: by topic: its name, and the ids of its mistakes, which stand in links
TOPICS: dict[str, tuple[str, tuple[str, ...]]] = {
    topic: (file.TITLE, tuple(file.MISTAKES)) for topic, file in _FILES.items()
}
TOPIC_OF = {name: topic for topic, (_title, names) in TOPICS.items() for name in names}
MISTAKES: dict[str, Mistake] = {name: mistake for file in _FILES.values() for name, mistake in file.MISTAKES.items()}
