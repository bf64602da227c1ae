import os
from concurrent.futures import ThreadPoolExecutor, as_completed
with ThreadPoolExecutor(max_workers=4) as ex:
    print(list(ex.map(lambda n: n * n, range(5))))
with ThreadPoolExecutor(4) as ex:
    futures = {ex.submit(pow, n, 2): n for n in range(3)}
    print(sorted(f.result() for f in as_completed(futures)))
print((os.cpu_count() or 1) > 0)
