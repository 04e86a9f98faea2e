"""True statements about documents, and false ones by a small change of a true one."""
