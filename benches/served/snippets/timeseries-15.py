import argparse
import numpy as np
import pandas as pd


def simulate(days: int, seed: int) -> pd.Series:
    rng = np.random.default_rng(seed)
    idx = pd.date_range("2024-01-01", periods=days, name="date")
    return pd.Series(rng.gamma(5, 20, days), index=idx, name="kwh")


def resample_report(s, freq):
    out = s.resample(freq).agg(["sum", "mean", "count"])
    out["change_pct"] = out["sum"].pct_change().mul(100)
    return out.round(1)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--days", type=int, default=60)
    ap.add_argument("--seed", type=int, default=5)
    ap.add_argument("--freq", default="W-SUN", help="pandas offset alias")
    ap.add_argument("--out", default="energy.csv")
    args, _ = ap.parse_known_args()

    series = simulate(args.days, args.seed)
    report = resample_report(series, args.freq)
    report.to_csv(args.out)
    print(report)
    print(f"Saved to {args.out}")


if __name__ == "__main__":
    main()
