"""What must not come out wrong: tables of programs, random programs, and the references that they are held against."""
