import pandas as pd
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

headlines = [
    "Stocks rise as bank raises rate forecast", "Bank cuts rate, stocks and bonds rise",
    "Investors sell stocks after weak bank results", "Bonds fall as rate worries return for investors",
    "Team wins final after late goal", "Striker scores late goal to win the cup final",
    "Coach praises team after cup win", "Injured striker misses cup final, coach confirms",
    "New phone has faster chip and better camera", "Chip maker unveils chip for phone and laptop",
    "Laptop review: great camera, slow chip", "Phone camera test: which laptop and phone win",
]

tfidf = TfidfVectorizer(stop_words="english")
lsa = make_pipeline(tfidf, TruncatedSVD(n_components=4, random_state=0), Normalizer(copy=False))
X = lsa.fit_transform(headlines)

km = KMeans(n_clusters=3, n_init=20, random_state=0).fit(X)
df = pd.DataFrame({"headline": headlines, "cluster": km.labels_})

# Renumber clusters by first appearance so that the output is stable
order = {c: i for i, c in enumerate(df["cluster"].drop_duplicates())}
df["cluster"] = df["cluster"].map(order)
for c, group in df.groupby("cluster"):
    words = pd.Series(" ".join(group["headline"]).lower().replace(",", "").split())
    common = words[words.isin(tfidf.get_feature_names_out())].value_counts()
    print(f"Cluster {c} ({len(group)} headlines), key word: {common.index[0]}")
    print(*(f"   - {h}" for h in group["headline"]), sep="\n")
