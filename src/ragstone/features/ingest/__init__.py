"""Files and folders -> documents."""
