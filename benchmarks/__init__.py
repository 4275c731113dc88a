"""What the crawler costs, measured against the sandbox: ``python -m benchmarks``."""
