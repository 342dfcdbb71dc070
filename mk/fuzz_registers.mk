# The fuzzer that goes through the tables of all kinds' registers, and its dictionary.

REGISTERS_FUZZER := $(O)/tests/fuzz/fuzz_registers

fuzzers: $(REGISTERS_FUZZER).dict

# tests/scripts/run-fuzzers.sh gives NAME.dict to the fuzzer NAME.
$(REGISTERS_FUZZER).dict: $(O)/print-dictionary
	@mkdir -p $(@D)
	$(Q)$< > $@

$(O)/print-dictionary: $(call obj,scripts/print-dictionary.c $(wildcard devices/template/*.c)) $(LIBMIMIC_A)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

$(REGISTERS_FUZZER): $(call fuzz_obj,$(wildcard devices/template/*.c))
