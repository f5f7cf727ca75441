"""The exact support vector machine: the dual, solved on blocks of the kernel matrix and certified in float64."""
