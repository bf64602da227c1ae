"""What Python 3.12 brought."""

type Pair[T: int, *Ts, **P] = tuple[T, T]
