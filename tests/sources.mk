# Tests that have an independent library beside them, which may not be there.
ZYDIS_TEST_SRC := tests/unit/test_decode_zydis.c tests/unit/test_patch_plan.c tests/unit/test_patch_room.c
SPARSE_TEST_SRC := $(wildcard tests/unit/test_dare_sparse*.c tests/transport/test_libdare*.c tests/transport/test_libvirgo*.c)
