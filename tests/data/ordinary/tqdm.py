from tqdm import tqdm
total = 0
for i in tqdm(range(5), desc="work"):
    total += i
print(total)
