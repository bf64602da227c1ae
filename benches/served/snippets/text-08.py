"""Compute readability metrics for several short texts."""
import re
import pandas as pd

TEXTS = {
    "simple": "The dog ran. The cat hid. It was hot. We sat in the sun and ate.",
    "news": "The government announced additional funding for regional hospitals on Tuesday. Officials expect improvements.",
    "legal": "Notwithstanding any provision to the contrary, the undersigned irrevocably authorises the administrator.",
}


def count_syllables(word):
    word = word.lower()
    groups = re.findall(r"[aeiouy]+", word)
    n = len(groups)
    if word.endswith("e") and not word.endswith("le") and n > 1:
        n -= 1
    return max(n, 1)


def readability(text):
    sentences = [s for s in re.split(r"[.!?]+", text) if s.strip()]
    words = re.findall(r"[A-Za-z']+", text)
    syll = sum(map(count_syllables, words))
    flesch = 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * syll / len(words)
    return {"sentences": len(sentences), "words": len(words), "syllables": syll, "flesch": round(flesch, 1)}


table = pd.DataFrame.from_dict({k: readability(v) for k, v in TEXTS.items()}, orient="index")
table["level"] = pd.cut(table["flesch"], [-1000, 30, 60, 1000], labels=["hard", "medium", "easy"])
print(table)
