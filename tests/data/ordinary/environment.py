import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"
os.environ.setdefault("SEED", "3")
print(os.environ["OMP_NUM_THREADS"], os.getenv("SEED"), os.environ.get("NOPE", "none"))
print(sys.platform, sys.version_info >= (3, 8))
