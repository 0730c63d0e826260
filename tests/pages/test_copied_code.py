"""Nothing that a visitor copies uses a private name, of ours or of a library.

That the programs run and print the page's numbers is tested where each is made.
"""

import ast
import json
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

from attnviz.base.head_edit import HeadEdit
from attnviz.core.roofline import Machine
from attnviz.models.architecture import Architecture, CustomShape, Deployment, ParameterCounts, config_from_text
from attnviz.models.loading import load
from attnviz.models.pictures import composed, held_out
from attnviz.pages.build.maths import generated_code, size_mismatches, two_sources
from attnviz.pages.compare.maths import compare_snippets, heads_as_kernel, layer_costs, layer_timing, reach_training
from attnviz.pages.decoding.maths import cache_traps, decoders, decoding_snippets, growing_bytes, token_by_token
from attnviz.pages.explore.panels import programs as explore_programs
from attnviz.pages.heads.maths import head_kinds, head_survey
from attnviz.pages.masks.maths import mask_programs, traps
from attnviz.pages.masks.maths.mask_lab import Config, Painted
from attnviz.pages.masks.maths.mask_rules import Rule
from attnviz.pages.pictures.maths import picture_program
from attnviz.pages.pictures.maths.picture_record import HeadChange
from attnviz.pages.pictures.maths.picture_run import run_picture
from attnviz.pages.positions.maths import position_snippets, rotation_snippets, video_attention
from attnviz.pages.scaling.maths import (
    alternatives,
    draws,
    growing_width,
    programs,
    real_head,
    retrieval_training,
    variance,
)
from attnviz.pages.sharing.panels import sharing_programs, sharing_snippets
from attnviz.runs import changed_rope
from tests.pages.build.test_generated_code import RESULTS
from tests.pages.positions import test_snippets as positions

ROOT = Path(__file__).parents[2]
PRIVATE = re.compile(r"\._[a-z]\w*")

MODELS = ("smollm2-135m", decoders.CORE)
WORDS = ("one", "two", "three", "four")
MASKS = [
    Config(WORDS, rules=rules, paint=paint)
    for rules, paint in product(
        [(Rule.of("causal"),), (Rule.of("causal"), Rule.of("padding")), (Rule.of("window"), Rule.of("random", "or"))],
        [Painted(), Painted(4, on=(1, 2)), Painted(4, on=tuple(range(16)))],
    )
]


def of_masks():
    made = [mask_programs.program(way, config).code for way in mask_programs.WAYS for config in MASKS]
    return [code for code in made if code is not None]


def of_building():
    made = [generated_code.program(result) for result in RESULTS]
    made += [generated_code.scaled_dot_product(result.config) for result in RESULTS]
    made += [code for result in RESULTS if (code := generated_code.multihead(result.config))]
    return made


def of_walk():
    return [line.strip() for result in RESULTS for _, line in generated_code.forward(result.config)]


def of_traps():
    every = traps.TRAPS | cache_traps.CACHE_TRAPS
    return [traps.IMPORTS, *(code for trap in every.values() for code in (trap.wrong_code, trap.right_code))]


def of_cache_traps():
    words = ("a", "cat", 'a "mat"')
    return [
        *of_traps(),
        *(code for trap in cache_traps.CACHE_TRAPS.values() if (code := cache_traps.program(trap, words, 0))),
    ]


def of_sharing():
    reading = SimpleNamespace(request=SimpleNamespace(model="smollm2-135m", text='a "cat"'))
    configs = [SimpleNamespace(method=m, layer=1, n_kv_heads=3, seed=0) for m in ("mean", "first", "random")]
    made = [
        sharing_snippets.sharing_code(reading, SimpleNamespace(config=c, trained_kv_heads=3), scope, predicts)
        for c, scope, predicts in product(configs, ("layer", "all"), (True, False))
    ]
    hows = [Deployment(100), Deployment(100, cache_dtype="q4_0"), Deployment(100, convention="transformers")]
    sources = {f"Architecture.preset({name!r})": Architecture.preset(name) for name in ("gpt2", "whisper-tiny")}
    sources["CustomShape().architecture()"] = CustomShape().architecture()
    text = json.dumps({"model_type": "llama"})
    sources[f"Architecture.from_config(config_from_text({text!r}))"] = Architecture.from_config(config_from_text(text))
    counts, machine = ParameterCounts(9, 9, 9), Machine(9, 9, 9)
    for code, arch in sources.items():
        made += [sharing_programs.of_size(code, arch, counts, how, machine) for how in hows]
        made += [sharing_programs.of_count(arch, 100, 2), sharing_programs.of_proof(code, 9, 10, 1)]
    latent = Architecture.preset("deepseek-v3").layers[0].latent
    made += [sharing_programs.of_latents("deepseek-v3", latent, 61, 100), sharing_programs.of_published()]
    return [*made, sharing_programs.of_encoder(counts, hows[0], machine)]


def of_explorer():
    layers = [SimpleNamespace(n_heads=9, n_kv_heads=3)] * 2
    shown = [
        SimpleNamespace(
            run=SimpleNamespace(
                request=SimpleNamespace(model="smollm2-135m", text="a cat", second=second, frame=frame),
                source=SimpleNamespace(frame=frame),
                target=target,
            ),
            stack=SimpleNamespace(layers=layers, id="decoder"),
            matrix=SimpleNamespace(row_at=[0, 1]),
            query=5,
            head=4,
            layer=1,
        )
        for second, frame, target in product((None, "a mat"), ("usual", "none"), (None, object()))
    ]
    return [explore_programs.head_code(each) for each in shown]


def of_pictures():
    made = []
    for model, count in (("digit-vit", 1), ("digit-reader", 2)):
        run = run_picture(load(model), composed(list(held_out().pictures[:count])))
        made += [picture_program.program(run, stack.id, 0, 1, 0) for stack in run.stacks]
        change = HeadChange((1,), factor=2.0)
        made += [picture_program.changed_program(run, stack.id, 0, change) for stack in run.stacks]
    return made


def of_positions():
    made = [position_snippets.order(config) for config in positions.ORDERS]
    made += [position_snippets.scores(config, trained) for config in positions.SCORES for trained in (False, True)]
    for program, configs in (
        (rotation_snippets.circle, positions.PAIRS),
        (rotation_snippets.longer, positions.LONGER),
        (rotation_snippets.video, positions.VIDEOS),
        (rotation_snippets.norm, positions.NORMS),
    ):
        made += [program(config) for config in configs]
    changes = product(("removed", "base"), ("head", "layer", "all"))
    heads = [changed_rope.Config(change=change, where=where) for change, where in changes]
    return made + [rotation_snippets.head("smollm2-135m", 'a "cat"', config) for config in heads]


def of_what_if():
    changes = [
        HeadEdit(mask="window", hidden=(1,), scale="factor", factor=2.0),
        HeadEdit(mask="painted", painted=b"abc", scale="none", where="all"),
        HeadEdit(silenced=((0, 1), (1, 2)), scale="inverse", where="layer"),
    ]
    stack = SimpleNamespace(keys=SimpleNamespace(labels=("a", "cat")), id="decoder")
    request = SimpleNamespace(model="smollm2-135m", text="a cat", second="")
    run = SimpleNamespace(request=request, source=SimpleNamespace(frame="usual"), target=None)
    shown = SimpleNamespace(run=run, stack=stack, layer=1, head=2)
    asked = product(changes, (True, False), (True, False))
    return [explore_programs.what_if_code(shown, (1, 2), change, 1, again, guesses) for change, again, guesses in asked]


def of_scaling():
    rows = [growing_width.Config(alternative=name) for name in alternatives.CHOICES]
    parameters = {name: one.default for name, one in alternatives.ALTERNATIVES.items()}
    training = [retrieval_training.Config(alternative=name) for name in alternatives.CHOICES]
    layer = SimpleNamespace(exact=True, softcap=None, sinks=None, bias=None, n_heads=9, n_kv_heads=3)
    return [
        *(programs.of_variance(variance.Config(distribution=name, strength=0.5)) for name in draws.DISTRIBUTIONS),
        *(make(row) for row in rows for make in (programs.of_saturation, programs.of_gradient)),
        *(programs.of_alternatives(row, parameters) for row in rows),
        *map(programs.of_training, training),
        programs.of_head("smollm2-135m", "a cat", layer, real_head.Config(1, 4, 2.0)),
        *(programs.of_softmax([1.0, 2.0], temperature, 2) for temperature in (0.0, 1.0)),
    ]


def of_costs():
    return [compare_snippets.costs(layer_costs.Config(counting=counting)) for counting in ("built", "table")]


def of_shared():
    return [compare_snippets.shared(layer_costs.Config(), heads_as_kernel.Config())]


def of_steps():
    prompt = SimpleNamespace(ids=(1, 2))
    result = SimpleNamespace(steps=[SimpleNamespace(token=5), SimpleNamespace(token=None)], prompt=prompt)
    config = token_by_token.Config('a "cat"')
    return [decoding_snippets.steps(model, config, result) for model in MODELS]


def of_heads():
    configs = [head_survey.Config("books"), head_survey.Config("repeated", seed=1), head_survey.Config("own", 'a "b"')]
    measures = ("induction", "silenced")
    return [head_kinds.program("gpt2", config, measure, 2) for config in configs for measure in measures]


def of_policies():
    result = SimpleNamespace(config=SimpleNamespace(seed=0))
    return [decoding_snippets.policy(model, 'a "cat"', result, "window", 8) for model in MODELS]


def of_rounding():
    result = SimpleNamespace(formats=[SimpleNamespace(bits=8, axis="token"), SimpleNamespace(bits=4, axis="channel")])
    return [decoding_snippets.quantised(model, 'a "cat"', result) for model in MODELS]


def of_growing():
    result = growing_bytes.run(Architecture.preset("smollm2-135m"), growing_bytes.Config())
    return [decoding_snippets.growing(result, -1)]


def of_roofline():
    point = SimpleNamespace(kind="prefill", tokens=9, flops=99, nbytes=9)
    return [decoding_snippets.roofline(SimpleNamespace(peak=1e12, bandwidth=1e11), (point,))]


def of_docs():
    reference = ROOT / "docs" / "api.md"  # signatures, no programs
    files = [ROOT / "README.md", *(each for each in sorted((ROOT / "docs").glob("*.md")) if each != reference)]
    notebooks = [file.read_text("utf-8") for file in sorted((ROOT / "docs" / "notebooks").glob("*.py"))]
    blocks = [re.findall(r"```python\n(.*?)```", file.read_text("utf-8"), re.DOTALL) for file in files]
    return notebooks + [code for each in blocks for code in each]


#: the file that shows Python to a visitor, and what it can show
SHOWN = {
    "pages/build/panels/code.py": of_building,
    "pages/build/panels/lesson_two_sources.py": lambda: [two_sources.program(two_sources.run(two_sources.Config()))],
    "pages/build/panels/sizes.py": lambda: [size_mismatches.run(size_mismatches.Sizes()).attempt.code],
    "pages/build/panels/walk.py": of_walk,
    "pages/compare/panels/cost_table.py": of_costs,
    "pages/compare/panels/measured.py": lambda: [compare_snippets.timing(layer_timing.Config())],
    "pages/compare/panels/reach.py": lambda: [compare_snippets.reach(reach_training.Config())],
    "pages/compare/panels/what_is_shared.py": of_shared,
    "pages/decoding/panels/decoding_traps.py": of_cache_traps,
    "pages/decoding/panels/growth.py": of_growing,
    "pages/decoding/panels/player.py": of_steps,
    "pages/decoding/panels/policy.py": of_policies,
    "pages/decoding/panels/quantised.py": of_rounding,
    "pages/decoding/panels/roofline.py": of_roofline,
    "pages/explore/panels/programs.py": lambda: of_explorer() + of_what_if(),
    "pages/heads/heads.py": of_heads,
    "pages/masks/panels/mask_code.py": of_masks,
    "app/trap_view.py": of_traps,
    "pages/pictures/panels/picture.py": of_pictures,
    "pages/positions/panels/video_attention.py": lambda: [video_attention.program(video_attention.Config())],
    "pages/positions/panels/position_code.py": of_positions,
    "pages/scaling/scaling.py": of_scaling,
    "pages/sharing/panels/sharing_snippets.py": of_sharing,
}


def shows_python(path):
    """Whether a file shows Python: `st.code(..., language="python")`, `snippet(...)` or, in words, `_as_code(...)`."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {keyword.arg: getattr(keyword.value, "value", None) for keyword in node.keywords}
        if name in ("snippet", "_as_code") or (name == "code" and given.get("language") == "python"):
            return True
    return False


def test_every_file_that_shows_python_is_looked_at():
    package = ROOT / "attnviz"
    found = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if shows_python(path)}
    assert found - {"app/code_snippet.py"} == set(SHOWN)


@pytest.mark.slow
@pytest.mark.parametrize("programs", [*SHOWN.values(), of_docs], ids=[*SHOWN, "README.md and docs"])
def test_no_program_uses_a_private_name(programs):
    made = programs()
    assert made
    for code in made:
        assert PRIVATE.findall(code) == [], code


def test_a_private_name_is_found():
    assert PRIVATE.findall("model = LlamaModel._from_config(config)") == ["._from_config"]
