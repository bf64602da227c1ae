from pathlib import Path, PurePosixPath, PureWindowsPath
import fnmatch

paths = [
    "data/raw/2023/sales_jan.csv",
    "data/raw/2023/sales_feb.csv",
    "data/processed/sales.parquet",
    "docs/index.md",
    "src/pkg/__init__.py",
    "src/pkg/core.py",
    ".gitignore",
]

base = Path("project")
for rel in paths:
    target = base / rel
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch()

def tree(folder: Path, prefix: str = "") -> None:
    entries = sorted(folder.iterdir(), key=lambda p: (p.is_file(), p.name))
    for i, entry in enumerate(entries):
        last = i == len(entries) - 1
        print(prefix + ("└── " if last else "├── ") + entry.name)
        if entry.is_dir():
            tree(entry, prefix + ("    " if last else "│   "))

print(base.name)
tree(base)

print(sorted(p.name for p in base.rglob("*.py")))
print(sorted(fnmatch.filter(paths, "*sales_???.csv")))
p = PurePosixPath("/srv/data/archive.tar.gz")
print(p.suffixes, p.stem, p.parent, p.parts)
print(PureWindowsPath(r"C:\Users\me\file.txt").as_posix())
print(PurePosixPath("a/b/../c").is_relative_to("a"), base.joinpath("src").relative_to("project"))
