import argparse
import platform
import sys
parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=3)
args = parser.parse_args([])
print(args.n, platform.system(), sys.version_info >= (3, 11), sys.maxsize > 0)
