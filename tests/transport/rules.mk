# These have an independent library beside them.
$(filter $(O)/tests/unit/test_dare_sparse% $(O)/tests/transport/test_libdare% $(O)/tests/transport/test_libvirgo%,$(TEST_PROGRAMS)): TEST_LIBS := -lcholmod -lopenblas
