"""What a person looks at: figures of a run, reports of many. Reads run folders only."""
