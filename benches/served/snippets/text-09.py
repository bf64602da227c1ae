import difflib

old = """def total(items):
    s = 0
    for i in items:
        s += i.price
    return s
""".splitlines()

new = """def total(items, tax=0.2):
    s = 0
    for i in items:
        s += i.price * i.qty
    return s * (1 + tax)
""".splitlines()

diff = list(difflib.unified_diff(old, new, fromfile="v1.py", tofile="v2.py", lineterm=""))
print("\n".join(diff))

added = sum(1 for l in diff if l.startswith("+") and not l.startswith("+++"))
removed = sum(1 for l in diff if l.startswith("-") and not l.startswith("---"))
ratio = difflib.SequenceMatcher(None, "\n".join(old), "\n".join(new)).ratio()
print(f"\n+{added} -{removed}, similarity {ratio:.3f}")

with open("changes.txt", "w") as fh:
    fh.writelines(line + "\n" for line in diff)
