import tempfile
from pathlib import Path
import filecmp
import difflib

with tempfile.TemporaryDirectory(prefix="cmp_") as d:
    base = Path(d)
    v1, v2 = base / "v1", base / "v2"
    for folder in (v1, v2):
        folder.mkdir()

    (v1 / "same.txt").write_text("unchanged\n")
    (v2 / "same.txt").write_text("unchanged\n")
    (v1 / "conf.txt").write_text("host=localhost\nport=8080\ndebug=true\n")
    (v2 / "conf.txt").write_text("host=localhost\nport=9090\ndebug=true\nworkers=4\n")
    (v1 / "old.txt").write_text("gone\n")
    (v2 / "new.txt").write_text("added\n")

    cmp = filecmp.dircmp(v1, v2)
    print("Only in v1:", cmp.left_only)
    print("Only in v2:", cmp.right_only)
    print("Identical :", cmp.same_files)
    print("Different :", cmp.diff_files)

    for name in cmp.diff_files:
        a = (v1 / name).read_text().splitlines()
        b = (v2 / name).read_text().splitlines()
        for line in difflib.unified_diff(a, b, fromfile=f"v1/{name}", tofile=f"v2/{name}", lineterm=""):
            print(line)
        ratio = difflib.SequenceMatcher(None, a, b).ratio()
        print(f"Similarity: {ratio:.2%}")
