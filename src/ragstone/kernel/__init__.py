"""The kernel: what every feature builds on. It knows no feature."""
