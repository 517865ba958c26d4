"""The examiner's server: the exam's rules, the live session around them, and the edges that reach outside."""
