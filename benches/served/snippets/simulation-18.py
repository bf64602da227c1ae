import asyncio
import random


# Simulated workers pulling jobs from a queue; virtual durations only
async def worker(name, queue, log, rng):
    clock = 0.0
    while True:
        try:
            job, cost = queue.get_nowait()
        except asyncio.QueueEmpty:
            log[name] = round(clock, 2)
            return
        clock += cost * rng.uniform(0.8, 1.2)
        await asyncio.sleep(0)
        queue.task_done()


async def main():
    rng = random.Random(10)
    queue = asyncio.Queue()
    for i in range(30):
        queue.put_nowait((f"job{i}", rng.expovariate(0.5)))
    log = {}
    await asyncio.gather(*(worker(f"w{k}", queue, log, rng) for k in range(3)))
    for name in sorted(log):
        print(f"{name}: busy {log[name]:.2f} units")
    makespan = max(log.values())
    print(f"makespan {makespan:.2f}, balance {sum(log.values()) / (3 * makespan):.2%}")


asyncio.run(main())
