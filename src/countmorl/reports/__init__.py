"""What a person looks at: figures of a run. Reads run folders only."""
