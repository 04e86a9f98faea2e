"""Files of our own that outlive a crash: journals and locks, SQLite, private folders, appended logs."""
