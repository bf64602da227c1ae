import json
import io
from typing import Iterator, Dict, Any


class JSONLinesStore:
    """Append-only newline-delimited JSON file."""

    def __init__(self, path: str):
        self.path = path
        open(self.path, "w").close()

    def append(self, **record: Any) -> None:
        with open(self.path, "a", encoding="utf-8") as f:
            f.write(json.dumps(record) + "\n")

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        with open(self.path, encoding="utf-8") as f:
            for n, line in enumerate(f, 1):
                try:
                    yield json.loads(line)
                except json.JSONDecodeError as exc:
                    print(f"  skipping line {n}: {exc.msg}")

    def __len__(self):
        return sum(1 for _ in open(self.path))


store = JSONLinesStore("log.jsonl")
for i, status in enumerate(["ok", "ok", "fail", "ok", "fail"]):
    store.append(id=i, status=status, latency=round(10 * 1.5 ** i, 2), meta={"try": i % 2})

with open("log.jsonl", "a") as f:
    f.write("{broken json\n")

print("Lines:", len(store))
records = list(store)
fails = [r for r in records if r["status"] == "fail"]
print("Failures:", fails)
print("Mean latency: %.2f" % (sum(r["latency"] for r in records) / len(records)))
