"""Judge development: edit a judge, run it on the dev part, freeze a version, look at the test part."""
