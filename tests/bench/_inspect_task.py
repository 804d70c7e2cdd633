"""The same dialogues asked by Inspect AI, in an environment of its own: run by `against_inspect.py`.

Arguments: the file of dialogues, the model's name as Inspect takes it, its base URL, the connections, a folder
for logs. Prints as JSON how many answers came and how long the evaluation took.
"""

import json
import sys
import time
from pathlib import Path

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver


@solver
def conversation() -> Solver:
    """Ask the first question, then each further one after the answer to the one before, with the whole history."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        state = await generate(state)
        for question in state.metadata["further"]:
            state.messages.append(ChatMessageUser(content=question))
            state = await generate(state)
        return state

    return solve


def sample(row: dict, system: str) -> Sample:
    first, *further = row["questions"]
    content = [ContentText(text=first), ContentImage(image=row["picture"])]
    messages = [ChatMessageSystem(content=system), ChatMessageUser(content=content)]
    return Sample(input=messages, metadata={"further": further})


def main(dialogues: str, name: str, base_url: str, connections: int, logs: str) -> None:
    given = json.loads(Path(dialogues).read_text())
    samples = [sample(row, given["system"]) for row in given["dialogues"]]
    model = get_model(
        name,
        base_url=base_url,
        api_key="key-of-the-stub",
        config=GenerateConfig(max_connections=connections, max_tokens=256, temperature=0.0, max_retries=0),
        **({"responses_api": True} if name.startswith("openai/") else {}),
    )
    task = Task(dataset=MemoryDataset(samples), solver=conversation())
    begun = time.perf_counter()
    (log,) = eval(
        task,
        model=model,
        log_dir=logs,
        max_samples=connections,
        display="none",
        score=False,
        fail_on_error=False,
    )
    seconds = time.perf_counter() - begun
    answers = sum(message.role == "assistant" for one in log.samples or [] for message in one.messages)
    sys.stdout.write(
        json.dumps({"seconds": seconds, "answers": answers, "status": log.status, "cpu": time.process_time()})
    )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
