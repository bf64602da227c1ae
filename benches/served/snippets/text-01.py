import re
from collections import Counter

text = """
Data analysis is the process of inspecting, cleaning, transforming and modelling data.
The goal of data analysis is to discover useful information, inform conclusions and
support decision-making. Data mining is a particular data analysis technique.
"""

stopwords = {"is", "the", "of", "and", "to", "a"}
words = re.findall(r"[a-z]+(?:-[a-z]+)?", text.lower())
filtered = [w for w in words if w not in stopwords]

print(f"Total words: {len(words)}, unique: {len(set(words))}")
print("\nTop 5 words:")
for word, count in Counter(filtered).most_common(5):
    print(f"{word:<12} {count:>3} {'█' * count}")

bigrams = Counter(zip(filtered, filtered[1:]))
print("\nMost common bigrams:")
for (a, b), n in bigrams.most_common(3):
    print(f"  {a} {b}: {n}")

sentences = [s.strip() for s in re.split(r"[.!?]\s", text) if s.strip()]
avg = sum(len(s.split()) for s in sentences) / len(sentences)
print(f"\n{len(sentences)} sentences, {avg:.1f} words on average")
