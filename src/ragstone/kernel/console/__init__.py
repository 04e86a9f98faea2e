"""What commands share: options, printing, progress bars, asking before money is spent."""
