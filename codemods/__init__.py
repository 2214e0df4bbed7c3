"""The codemods, one file each; found by `cudafix.codemod.codemods`, so that a new file is all that a new one needs."""
