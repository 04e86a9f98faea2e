"""The judges that there are: listed, shown, made, tried on rows."""
