"""A model is switched to recording and back, adopted or not, whatever other threads do with it meanwhile."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from attnviz.models.capture import adapter, adopt, capture
from attnviz.models.capture.adapter import NAME, switch_implementation
from tests.models.tiny import eager, llama, tokens


@pytest.mark.parametrize("own", [True, False])
def test_eight_threads_on_one_model_lose_no_layer(own):
    model = adopt(llama()) if own else llama()
    sentences = [tokens(1, 4 + n, seed=n) for n in range(8)]
    expected = [capture(model, input_ids=ids).layers[1].weights() for ids in sentences]
    wrong = []

    def work(n: int) -> None:
        for _ in range(10):
            trace = capture(model, input_ids=sentences[n])
            if len(trace.layers) != 2 or not torch.allclose(trace.layers[1].weights(), expected[n], atol=1e-6):
                wrong.append(n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert wrong == []
    assert model.config._attn_implementation == (NAME if own else "sdpa")


def test_another_thread_that_asks_for_eager_attentions_meanwhile_gets_them():
    model, ids = llama(), tokens()
    expected = eager(model, input_ids=ids).attentions
    model.set_attn_implementation("eager")
    stop, wrong = threading.Event(), []

    def outsider() -> None:
        with torch.no_grad():
            while not stop.is_set():
                found = model(input_ids=ids, output_attentions=True).attentions
                if found[1] is None or not torch.equal(found[1], expected[1]):
                    wrong.append(found)

    thread = threading.Thread(target=outsider)
    thread.start()
    layers = [len(capture(model, input_ids=ids).layers) for _ in range(30)]
    stop.set()
    thread.join()
    assert wrong == []
    assert set(layers) == {2}
    assert model.config._attn_implementation == "eager"


def test_a_capture_that_starts_while_another_one_switches_keeps_the_model_switched(monkeypatch):
    model, write = llama(), adapter._write_implementation
    entered, go, found = threading.Event(), threading.Event(), []

    def second() -> None:
        with switch_implementation(model):
            entered.set()
            go.wait(5)
            found.append(model.config._attn_implementation)

    thread = threading.Thread(target=second)

    def slowly(config, name):
        write(config, name)
        if not thread.ident:
            thread.start()
            entered.wait(0.3)  # the config says ours already, and nothing says yet who has it

    monkeypatch.setattr(adapter, "_write_implementation", slowly)
    with switch_implementation(model):
        pass
    entered.wait(5)
    go.set()
    thread.join(5)
    assert found == [NAME]
    assert model.config._attn_implementation == "sdpa"
