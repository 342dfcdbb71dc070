# The program by which tests/scripts/test-trace.sh reads traces: it knows nothing of mimic.
CHECK_TRACE := $(O)/tests/tools/check_trace

tests: $(CHECK_TRACE)

$(CHECK_TRACE): tests/tools/check_trace.c | packages-build
	@mkdir -p $(@D)
	$(if $(Q),@echo "  CC      $@")
	$(Q)$(CC) -std=gnu11 $(WARNINGS) -O2 -g -o $@ $< $(JSON_LIBS)
