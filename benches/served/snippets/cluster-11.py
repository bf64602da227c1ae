import argparse
import json
import numpy as np
from pathlib import Path
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score


def build_parser():
    p = argparse.ArgumentParser(description="Cluster synthetic points")
    p.add_argument("-k", "--clusters", type=int, default=5)
    p.add_argument("-n", "--samples", type=int, default=2000)
    p.add_argument("--outdir", type=Path, default=Path("results"))
    p.add_argument("--seed", type=int, default=0)
    return p


def main(args):
    X, truth = make_blobs(args.samples, centers=args.clusters, random_state=args.seed, cluster_std=0.8)
    model = MiniBatchKMeans(args.clusters, random_state=args.seed, n_init=5, batch_size=256).fit(X)
    summary = {
        "k": args.clusters,
        "sizes": sorted(np.bincount(model.labels_).tolist(), reverse=True),
        "davies_bouldin": round(float(davies_bouldin_score(X, model.labels_)), 3),
        "calinski_harabasz": round(float(calinski_harabasz_score(X, model.labels_)), 1),
    }
    args.outdir.mkdir(parents=True, exist_ok=True)
    (args.outdir / "summary.json").write_text(json.dumps(summary, indent=2))
    np.savetxt(args.outdir / "centers.csv", model.cluster_centers_, delimiter=",", fmt="%.4f")
    print(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main(build_parser().parse_args([]))
