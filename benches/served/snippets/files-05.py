import gzip
import hashlib
import os
from contextlib import contextmanager


@contextmanager
def working_file(name):
    """Yield a path and make sure the file is deleted afterwards."""
    try:
        yield name
    finally:
        if os.path.exists(name):
            os.remove(name)


def sha256_of(path, chunk_size=1024):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(chunk_size):
            h.update(chunk)
    return h.hexdigest()


text = "\n".join(f"line {i}: {'abc' * (i % 5)}" for i in range(500))

with working_file("raw.txt") as raw, working_file("raw.txt.gz") as gz:
    with open(raw, "w") as f:
        f.write(text)
    with gzip.open(gz, "wt", encoding="utf-8") as f:
        f.write(text)

    raw_size, gz_size = os.path.getsize(raw), os.path.getsize(gz)
    print(f"Compressed smaller: {gz_size < raw_size}")
    print(f"Raw size: {raw_size:,} bytes")
    print("SHA256:", sha256_of(raw)[:16])

    with gzip.open(gz, "rt", encoding="utf-8") as f:
        same = f.read() == text
    print("Identical content:", same)

print("Leftovers:", [n for n in os.listdir(".") if n.startswith("raw")])
