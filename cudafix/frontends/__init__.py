"""Front ends: from source text to the intermediate representation of `cudafix.ir`, one language each."""
