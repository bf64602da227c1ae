import gc
import os
import sys
print(os.environ.get("NOPE", "none"), os.sep, repr(os.linesep), os.path.splitext("a.tar.gz"))
print(sys.float_info.max > 1, len(sys.argv), sys.version.split()[0].count("."))
sys.stdout.write("x\n")
print("err", file=sys.stderr)
gc.collect()
print(os.getcwd() != "", os.listdir("."))
