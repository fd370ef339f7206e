"""Work that is wide, on Spark: the session, the Java that it runs on, and the job that builds a corpus."""
