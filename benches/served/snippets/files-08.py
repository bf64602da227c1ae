import json
from dataclasses import dataclass, field, asdict
from pathlib import Path
from typing import List, Optional


@dataclass
class Experiment:
    name: str
    lr: float
    epochs: int = 10
    tags: List[str] = field(default_factory=list)
    notes: Optional[str] = None

    def save(self, folder: Path) -> Path:
        folder.mkdir(exist_ok=True)
        target = folder / f"{self.name}.json"
        with target.open("w", encoding="utf-8") as f:
            json.dump(asdict(self), f, indent=2, sort_keys=True, ensure_ascii=False)
        return target

    @classmethod
    def load(cls, path: Path) -> "Experiment":
        return cls(**json.loads(path.read_text(encoding="utf-8")))


folder = Path("experiments")
exps = [
    Experiment("baseline", 0.01),
    Experiment("deep", 0.001, epochs=50, tags=["gpu", "slow"]),
    Experiment("café", 0.1, notes="naïve run — ünïcode check"),
]
paths = [e.save(folder) for e in exps]
restored = [Experiment.load(p) for p in paths]

assert restored == exps
for e in sorted(restored, key=lambda e: e.lr, reverse=True):
    print(e)
print((folder / "deep.json").read_text())
