"""What a build says of the evaluation set that it has made: the certificate and all that it counts."""
