"""What everything runs on: compiled loops, threads, memory, Ctrl-C."""

__all__: list[str] = []
