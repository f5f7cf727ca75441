"""What pictures and notebooks share: axes and colours, escaped HTML, the learner inside a pipeline."""
