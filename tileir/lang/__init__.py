"""The language of kernels: `import tileir.lang as ct`."""
