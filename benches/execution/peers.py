"""What the peers take from the order to the first byte and to the end, in milliseconds.

Only those that keep one process; the others are `process.rs`. Prints
{name: {"first": [...], "end": [...]}} as JSON. Arguments: the table as csv, how many samples. Run by
the Python that has the peers.
"""

import json
import sys
import time
from collections.abc import Callable

TRIVIAL = "print(6 * 7)"
GROUPED = "print({read}.groupby('region')['amount'].mean())"

Times = tuple[float, float]
Take = Callable[[str, Callable[[], Times]], None]


def main() -> None:
    table, samples = sys.argv[1], int(sys.argv[2])
    read = f"pd.read_csv({table!r})"
    whole = "import pandas as pd\n" + GROUPED.format(read=read)
    found: dict[str, dict[str, list[float]]] = {}

    def take(name: str, once: Callable[[], Times]) -> None:
        once()
        times = [once() for _ in range(samples)]
        found[name] = {"first": [one for one, _ in times], "end": [two for _, two in times]}

    sandtrap(take, table)
    jupyter(take, whole)
    print(json.dumps(found))


def sandtrap(take: Take, table: str) -> None:
    """Its prints come with its answer: the first byte is the end. The frame is handed over."""
    import pandas
    from sandtrap import Policy, sandbox

    policy = Policy()
    policy.module(pandas, recursive=True)
    frame = pandas.read_csv(table)
    for isolation in ("none", "process", "kernel"):
        with sandbox(policy, isolation=isolation) as kept:  # type: ignore[arg-type]

            def run(code: str, given: dict[str, object], kept: object = kept) -> Times:
                begun = time.perf_counter()
                answer = kept.exec(code, namespace=given)  # type: ignore[attr-defined]
                ended = (time.perf_counter() - begun) * 1e3
                if not answer.stdout:
                    raise SystemExit(f"sandtrap {isolation}: {answer.error}")
                return ended, ended

            take(f"sandtrap {isolation}, one process, trivial", lambda: run(TRIVIAL, {}))
            code = GROUPED.format(read="frame")
            take(
                f"sandtrap {isolation}, one process, group-by",
                lambda: run(code, {"frame": frame}),
            )


def jupyter(take: Take, whole: str) -> None:
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:

        def run(code: str) -> Times:
            begun = time.perf_counter()
            first = 0.0
            client.execute(code)
            while True:
                message = client.get_iopub_msg(timeout=60)
                if message["msg_type"] == "stream" and not first:
                    first = time.perf_counter()
                if message["content"].get("execution_state") == "idle" and first:
                    return (first - begun) * 1e3, (time.perf_counter() - begun) * 1e3

        take("Jupyter, one kernel, trivial", lambda: run(TRIVIAL))
        take("Jupyter, one kernel, group-by", lambda: run(whole))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()
