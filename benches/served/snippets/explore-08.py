import argparse
import io
import sys

import pandas as pd

DATA = """city,pop,area
Vienna,1897,414.8
Graz,291,127.6
Linz,206,96.1
Salzburg,155,65.7
Innsbruck,131,104.9
"""


def parse_args(argv=None):
    parser = argparse.ArgumentParser(description="Rank cities by density")
    parser.add_argument("--top", type=int, default=3, help="rows to show")
    parser.add_argument("--sort-by", choices=["pop", "area", "density"], default="density")
    return parser.parse_args(argv)


def main(argv=None) -> int:
    args = parse_args(argv)
    df = pd.read_csv(io.StringIO(DATA))
    df["density"] = (df["pop"] * 1000 / df["area"]).round(1)
    ranked = df.sort_values(args.sort_by, ascending=False).head(args.top)
    print(f"Top {args.top} cities by {args.sort_by}:")
    for rank, row in enumerate(ranked.itertuples(index=False), start=1):
        print(f"{rank}. {row.city:<10} {row.density:>8,.1f} per km2")
    return 0


if __name__ == "__main__":
    sys.exit(main([]))
