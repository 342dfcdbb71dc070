# The tables of instructions are the model's, too; libmimic.so does not export them.
LIBRARY_OF_MODEL_dare := devices/dare/isa.c
