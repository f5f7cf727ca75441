"""How kernel matrices are evaluated: statistics of pairs, tiles and strips, counts of features."""
