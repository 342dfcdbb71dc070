# Host benchmarks: every row beside a reference of the same run, medians of 7.

BENCH := $(O)/bench/bench

.PHONY: bench
bench: all $(BENCH)
	@echo "Measuring; takes about two minutes, and wants a quiet machine with two CPUs."
	$(Q)$(BENCH) --build $(O) --output $(O)/bench.json
	@echo "Written: $(O)/bench.json"

$(BENCH): $(call obj,$(BENCH_SRC)) $(LIBMAPLE)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $(filter %.o,$^) -L$(O)/lib -lmaple -lmimic $(call RPATH,../) -ljson-c -lm
