from collections import defaultdict, deque
import pandas as pd

# Group accounts that share an e-mail, phone or address (connected components)
accounts = pd.DataFrame([
    (1, "a@x.com", "555-1", "Elm 1"), (2, "b@x.com", "555-1", "Oak 2"), (3, "b@x.com", "555-3", "Ash 3"),
    (4, "c@x.com", "555-4", "Fir 4"), (5, "d@x.com", "555-5", "Fir 4"), (6, "e@x.com", "555-6", "Yew 6"),
], columns=["id", "email", "phone", "address"])

graph = defaultdict(set)
for col in ["email", "phone", "address"]:
    for _, ids in accounts.groupby(col)["id"]:
        first, *rest = ids
        for other in rest:
            graph[first].add(other)
            graph[other].add(first)


def components(nodes):
    seen = set()
    for start in nodes:
        if start in seen:
            continue
        queue, group = deque([start]), []
        seen.add(start)
        while queue:
            node = queue.popleft()
            group.append(node)
            for nxt in sorted(graph[node] - seen):
                seen.add(nxt)
                queue.append(nxt)
        yield sorted(group)


groups = list(components(accounts["id"]))
for i, g in enumerate(groups, 1):
    print(f"Group {i}: accounts {[int(x) for x in g]}")
print(f"{len(accounts)} accounts -> {len(groups)} persons")
