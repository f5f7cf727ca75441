"""What users give, checked: tables, labels, parameters, items."""

__all__: list[str] = []
