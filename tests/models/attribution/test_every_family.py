"""Tools on families and models of forms that once ended in an error of another library's words."""

from functools import partial
from typing import Any

import pytest
import torch
from accelerate import cpu_offload  # type: ignore[import-untyped]
from torch import nn
from torch.testing import assert_close

import attnviz as av
from attnviz.models.capture import adopt
from benchmarks.tools_by_family import CLOSE, TOOLS, build_family, run_family
from tests.models.capture.plain_models import Own
from tests.models.tiny import eager, llama, tokens
from tests.models.tiny_streams import made

IDS, OTHER = tokens()[:1], tokens(seed=3)[:1]


#: two experts of 32 numbers are as wide as the stream of 64: what they hand on has the stream's size
EXPERTS = {"hidden_size": 64, "moe_intermediate_size": 32, "num_experts_per_tok": 2, "num_attention_heads": 4}
LATENT = {"q_lora_rank": 16, "kv_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 16}
LATENT |= {"n_group": 1, "topk_group": 1, "first_k_dense_replace": 0, "n_routed_experts": 4, "num_key_value_heads": 4}


class PeftStandIn(nn.Module):
    """What of PEFT counts here: a module around the model, which says what it wraps."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.base_model = nn.Module()
        self.base_model.model = model
        self.active_peft_config = type("Config", (), {"is_prompt_learning": False})

    def get_base_model(self) -> nn.Module:
        return self.base_model.get_submodule("model")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.get_base_model()(*args, **kwargs)

    def generate(self, *args: Any, **kwargs: Any) -> Any:
        base: Any = self.get_base_model()
        return base.generate(*args, **kwargs)


FORMS: dict[str, Any] = {
    "experts as wide as the stream": partial(made, "qwen3_moe", **EXPERTS, num_experts=4, head_dim=16),
    "latent attention with such experts": partial(made, "deepseek_v3", **EXPERTS, **LATENT),
    "an output head that saw one position": partial(made, "electra", embedding_size=16, is_decoder=True),
    "a cache that is left on": partial(made, "granitemoe", num_local_experts=4, num_experts_per_tok=2),
    "offloaded weights": lambda: cpu_offload(llama()),
    "inside an adapter": lambda: PeftStandIn(llama()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_tool_works(form: str) -> None:
    model = FORMS[form]()
    for tool, call in TOOLS.items():
        if (form, tool) == ("an output head that saw one position", "head_circuits"):
            with pytest.raises(av.Problem, match="token vectors"):  # Electra's are narrower than its stream
                call(model, IDS, OTHER)
        else:
            off = call(model, IDS, OTHER)
            assert not isinstance(off, float) or off < CLOSE, tool
    found = av.capture(model, IDS, residual=True).logit_attribution(av.logit_diff(7, 11))
    assert_close(found.total, found.logit, rtol=1e-3, atol=1e-4)
    logits = model(IDS).logits[0, -1].float()
    if form != "a cache that is left on":  # which scales its logits after them
        assert_close(found.logit[0], logits[7] - logits[11], rtol=1e-3, atol=1e-4)


REFUSE_SOME = ["bamba", "zaya", "zamba", "hrm_text", "deepseek_v4", "afmoe", "jetmoe", "git", "cpmant", "gemma3n_text"]
REFUSE_SOME += ["qwen4_exp_text", "xmod"]


@pytest.mark.parametrize("family", ["ctrl", "gemma3", *REFUSE_SOME])
def test_a_family_is_right_or_refuses_in_sentences(family: str) -> None:
    outcomes = run_family(family)
    assert not [outcome for outcome in outcomes.values() if outcome.startswith(("raw", "wrong"))]
    if family == "cpmant":  # which puts a prompt of its own before the text
        assert outcomes["find_heads"].startswith("refused: this model attends over 39 positions for 7 tokens")
    if family in ("ctrl", "gemma3"):  # a text runs through one of Gemma 3's two towers
        assert set(outcomes.values()) == {"done"}
    if family in ("bamba", "zaya"):
        assert outcomes["logit_lens"] == outcomes["composition_scores"] == "done"
    if family == "afmoe":  # whose attention needs what heads hand on in one piece of memory
        assert outcomes["score_attribution"] == "done"


@pytest.mark.parametrize("family", ["bert", "bloom", "blenderbot", "xglm", "ctrl"])
def test_circuits_begin_as_the_stream_does(family: str) -> None:
    """Of one token alone, without positions: queries and keys are those of the pass, the embeddings' norm with it."""
    model = build_family(family, IDS)
    for name, table in [*model.named_parameters(), *model.named_buffers()]:
        if "pos" in name and table.dim() == 2:
            table.data.zero_()
    circuits = av.head_circuits(model, 0, 1, tokens=range(5, 25))
    q, k, v = av.capture(model, torch.arange(5, 25)[:, None])[0].qkv
    assert_close(circuits.keys, k[:, 1, 0])
    assert_close(circuits.values, v[:, 1, 0])
    assert_close(circuits.queries[:, :4], q[:, 1, 0, :4] * (circuits.queries[0, 0] / q[0, 1, 0, 0]))
    trace = av.capture(build_family(family, IDS), IDS, residual=True)
    assert ("position" in trace.score_attribution(-1, 0, 6, 5).parts) == (family != "bloom")


def test_the_lens_reads_all_blocks_of_a_hybrid() -> None:
    from transformers import BambaConfig, BambaForCausalLM

    from tests.models.capture.tiny_config import changed, tiny

    torch.manual_seed(0)
    model = BambaForCausalLM(tiny(BambaConfig, **changed("bamba", BambaConfig))).eval()
    trace = av.capture(model, IDS, residual=True)
    with torch.no_grad():
        states = model(IDS, output_hidden_states=True).hidden_states
        expected = model.lm_head(model.model.final_layernorm(torch.stack([states[0][0, -1], states[1][0, -1]])))
    lens = trace.logit_lens([7, 11])
    assert_close(lens.logits[0, :2], expected[:, [7, 11]], rtol=1e-4, atol=1e-4)
    assert_close(lens.logits[0, -1], trace.logits[0, [7, 11]], rtol=1e-4, atol=1e-4)


def test_what_an_adapted_model_did_is_patched_into_its_base() -> None:
    base, adapted = llama(), PeftStandIn(llama(seed=4))
    source = av.capture(adapted, IDS)
    patched = av.intervene(base, av.patch(0, 2, source=source), IDS)
    plain = av.intervene(base, av.Edit(0, 2, output=source[0].head_outputs(2)), IDS)
    assert_close(patched.logits, plain.logits)


def test_a_loaded_model_reports_its_weights_as_its_eager_path_does() -> None:
    model = llama()
    expected = eager(model, input_ids=IDS).attentions
    with torch.no_grad():
        reported = adopt(model)(IDS, output_attentions=True).attentions
    assert len(reported) == len(expected) == 2
    for mine, theirs in zip(reported, expected, strict=True):
        assert_close(mine, theirs)


ONLY_TRANSFORMERS = ("generate", "head_circuits", "composition_scores", "score_attribution")


@pytest.mark.parametrize("tool", [name for name in TOOLS if name not in ONLY_TRANSFORMERS])
def test_a_plain_torch_model_does_what_the_page_says(tool: str) -> None:
    off = TOOLS[tool](Own().eval(), IDS, OTHER)
    assert not isinstance(off, float) or off < CLOSE
