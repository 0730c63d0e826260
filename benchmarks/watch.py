"""What `av.watch` costs a training, for docs/developing/benchmarks.md.

    python -m benchmarks.watch

A Llama of 8 layers and 8 heads, batches of 8 x 128 tokens, a watched sentence of 32. CPU time on one thread, in
turns: a step, what the block does after each step, and a record.
"""

from statistics import median

import torch
from transformers import LlamaConfig, LlamaForCausalLM

import attnviz as av
from benchmarks.harness import machine, ms, ratio, rounds, table

EVERY, ROUNDS = 100, 9


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    sizes = {"hidden_size": 256, "intermediate_size": 688, "num_hidden_layers": 8, "num_attention_heads": 8}
    model = LlamaForCausalLM(LlamaConfig(vocab_size=4096, **sizes))
    optimizer = torch.optim.AdamW(model.parameters())
    ids = torch.randint(4096, (8, 128))

    def step() -> None:
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    watch = av.watch(model, ids[:1, :32], every=EVERY)

    def after_step() -> None:
        watch.steps = 0
        watch._after_step(optimizer)

    taken = rounds({"a step": step, "after each step": after_step, "a record": watch.record}, ROUNDS)
    plain, hook, record = (median(times) for times in taken.values())
    print(machine(), end="\n\n")
    print(
        table(
            [
                {"what": name, "CPU time": ms(1e3 * median(times)), "x a step": f"{ratio(times, taken['a step']):.3f}"}
                for name, times in taken.items()
            ]
        )
    )
    print(f"\na record every {EVERY} steps: {(hook + record / EVERY) / plain:.2%} of a step")
