"""Every stage that ragstone.toml declares."""
