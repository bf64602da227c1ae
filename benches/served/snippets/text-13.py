import pandas as pd
import matplotlib.pyplot as plt
import seaborn as sns

messages = [
    ("Ann", "Hi all, when is the meeting?"), ("Bob", "At 10. Room 4."), ("Ann", "Thanks!"),
    ("Cem", "Can we move it to 11? I have a call."), ("Bob", "Fine with me."), ("Ann", "OK for me too, see you then"),
    ("Cem", "Thank you both"), ("Dee", "Sorry, late. What did I miss?"), ("Bob", "Nothing, we moved it to 11."),
]
df = pd.DataFrame(messages, columns=["author", "text"])
df["words"] = df["text"].str.split().str.len()
df["is_question"] = df["text"].str.endswith("?")
df["reply_to"] = df["author"].shift()

print(df.groupby("author").agg(messages=("text", "size"), words=("words", "sum"), questions=("is_question", "sum")))

replies = pd.crosstab(df["reply_to"], df["author"])
print(replies)

sns.set_theme(style="white")
fig, ax = plt.subplots(figsize=(5, 4))
sns.heatmap(replies, annot=True, fmt="d", cmap="Blues", cbar=False, ax=ax)
ax.set_title("Who replies to whom")
plt.tight_layout()
plt.savefig("replies.png")
plt.show()
