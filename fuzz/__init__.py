"""Bytes of all kinds for every reader: what comes back is a result or one sentence, soon."""
