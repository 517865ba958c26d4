"""The rules of the exam, without I/O and without a clock: told what happened and when, it says what to do."""
