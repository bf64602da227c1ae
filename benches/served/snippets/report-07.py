import argparse
import logging
import sys
from pathlib import Path

import numpy as np
import pandas as pd

logger = logging.getLogger("monthly_report")


def build(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"month": np.tile(np.arange(1, 13), 20), "cost": rng.normal(300, 40, 240)})


def render(df: pd.DataFrame, fmt: str) -> str:
    table = df.groupby("month")["cost"].agg(["mean", "min", "max"]).round(1)
    renderers = {"csv": table.to_csv, "json": lambda: table.to_json(orient="index"), "md": table.to_markdown}
    return renderers[fmt]()


def main(argv):
    parser = argparse.ArgumentParser(prog="monthly_report")
    parser.add_argument("--format", choices=["csv", "json", "md"], nargs="+", default=["csv", "md"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.DEBUG if args.verbose else logging.WARNING)
    data = build(args.seed)
    for fmt in args.format:
        text = render(data, fmt)
        (target := Path(f"monthly.{fmt}")).write_text(text)
        logger.debug("wrote %s", target)
        print(f"{target}: {len(text.splitlines())} lines")
    print(render(data, "md"))


if __name__ == "__main__":
    sys.exit(main(["--format", "csv", "json", "md", "-v"]))
