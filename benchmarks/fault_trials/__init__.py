"""Damage, kills, hostile files and bad input, done on purpose: one file a kind of fault, each with a ``show``."""
