"""What pictures and notebooks share: axes, colours and cells, and HTML in which text is text."""
