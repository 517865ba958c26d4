"""Asks a small model for examiner's answers, to be kept as test data. Run by hand; the tests read what it wrote.

    python tests/guard/collect.py fr MODEL.gguf > tests/guard/outputs/qwen25_coder_1_5b_fr.jsonl
    python tests/guard/collect.py en MODEL.gguf > tests/guard/outputs/smollm2_135m_en.jsonl

The prompts are those of ``outputs/prompts_<language>.tsv``: task, role (of T2), what the candidate said. The system
texts here are plain on purpose: the guard is to be tried on what a model does, not on what a good prompt prevents.
Each line holds ``task``, ``candidate``, ``output``, the answer as it came, and ``finish``, ``length`` where it was cut.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from pathlib import Path

import xllamacpp

MAX_TOKENS = 60
TEMPERATURE = 0.7
SEED = 20_24
THREADS = 2

SYSTEM = {
    ("fr", "T1"): (
        "Tu fais passer un entretien oral en français. La personne vient de parler d'elle. Pose-lui une seule question"
        " de 10 à 20 mots sur ce qu'elle vient de dire, en la vouvoyant. N'écris que la question."
    ),
    ("fr", "T2"): (
        "Tu joues ce rôle : {role} Un client te parle. Réponds-lui en deux ou trois phrases courtes, à l'oral,"
        " en français. Donne les renseignements demandés. Ne pose jamais de question."
    ),
    ("en", "T1"): (
        "You hold an oral interview. The person has just spoken about themselves. Ask them one single question of 10 to"
        " 20 words about what they just said. Write the question only."
    ),
    ("en", "T2"): (
        "You play this role: {role} A customer speaks to you. Answer in two or three short spoken sentences."
        " Give the information asked for. Never ask a question."
    ),
}


def server(model: str) -> xllamacpp.Server:
    """Load ``model`` and serve it inside this process."""
    params = xllamacpp.CommonParams()
    params.model.path = model
    params.n_ctx, params.n_parallel, params.n_gpu_layers = 1024, 1, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    params.verbosity = 0
    return xllamacpp.Server(params)


def main(language: str, model: str) -> None:
    """Write one JSON line an answer on standard output."""
    llm = server(model)
    prompts = Path(__file__).parent / "outputs" / f"prompts_{language}.tsv"
    with prompts.open(encoding="utf-8", newline="") as rows:
        for number, row in enumerate(csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)):
            system = SYSTEM[language, row["task"]].format(role=row["role"])
            messages = [{"role": "system", "content": system}, {"role": "user", "content": row["candidate"]}]
            request = {
                "messages": messages,
                "max_tokens": MAX_TOKENS,
                "temperature": TEMPERATURE,
                "seed": SEED + number,
            }
            choice = llm.handle_chat_completions(request)["choices"][0]
            line = {
                "task": row["task"],
                "candidate": row["candidate"],
                "output": choice["message"]["content"],
                "finish": choice["finish_reason"],
            }
            print(json.dumps(line, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # the server's native threads have no clean end
