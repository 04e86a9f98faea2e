"""What servers share: keys, limits, errors, headers, connections."""
