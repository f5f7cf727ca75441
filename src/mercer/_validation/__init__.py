"""What users give, checked: tables, labels, parameters, items."""
