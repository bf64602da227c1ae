import hashlib
from typing import Iterable, List

import numpy as np


def stable_hash(token: str, n_buckets: int) -> int:
    digest = hashlib.md5(token.encode("utf-8")).hexdigest()
    return int(digest, 16) % n_buckets


def hash_vectorise(docs: Iterable[str], n_buckets: int = 16) -> np.ndarray:
    rows: List[np.ndarray] = []
    for doc in docs:
        vec = np.zeros(n_buckets, dtype=np.int32)
        for tok in doc.lower().split():
            sign = 1 if stable_hash("s" + tok, 2) else -1
            vec[stable_hash(tok, n_buckets)] += sign
        rows.append(vec)
    return np.vstack(rows)


docs = ["the cat sat on the mat", "the dog sat on the log", "stock prices fell sharply today"]
M = hash_vectorise(docs)
print(M)

norms = np.linalg.norm(M, axis=1, keepdims=True)
cos = (M / norms) @ (M / norms).T
print(np.round(cos, 3))
i, j = np.unravel_index(np.argmax(np.triu(cos, k=1)), cos.shape)
print(f"Most similar: {docs[i]!r} <-> {docs[j]!r} ({cos[i, j]:.2f})")
