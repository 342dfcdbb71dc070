# Sources that the commands of this folder need besides it.
TOOL_SRC += libdare/assembly.c
