"""Fitted models as files, and back: data only, never code."""

from .models import load, save

__all__ = ["load", "save"]
