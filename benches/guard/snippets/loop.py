def work():
    total = 0
    for n in range(1_000_000):
        total = (total * 31 + n) % 1_000_003
    return total
