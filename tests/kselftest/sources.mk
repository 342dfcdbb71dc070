# Nothing of mimic's libraries, not even the C library of the machine, is in this one.
KSELFTEST_LIBS_test_dare_contexts := -static
