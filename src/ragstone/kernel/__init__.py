"""The kernel: what every feature stands on. It knows no feature."""
