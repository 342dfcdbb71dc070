# The register pages of the docs and the tables of DARE's instructions, from the lists.

.PHONY: docs docs-check

$(O)/print-registers: $(call obj,scripts/print-registers.c)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

$(O)/print-dare-registers: $(call obj,scripts/print-dare-registers.c scripts/print-blocks.c) $(LIBMIMIC_A)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

$(O)/print-virgo-registers: $(call obj,scripts/print-virgo-registers.c scripts/print-blocks.c) $(LIBMIMIC_A)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

$(O)/print-isa: $(call obj,scripts/print-isa.c devices/dare/isa.c)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

# The page with its tables anew: they stand between two marks.
$(O)/dare-isa.md: docs/dare-isa.md $(O)/print-isa
	$(Q)$(O)/print-isa > $@.tables
	$(Q)sed -e '/^<!-- made by make docs -->/r $@.tables' \
		-e '/^<!-- made by make docs -->/,/^<!-- end -->/{//!d}' $< > $@

$(O)/print-sim-parameters: $(call obj,scripts/print-sim-parameters.c)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

$(O)/timing.md: docs/timing.md $(O)/print-sim-parameters
	$(Q)$(O)/print-sim-parameters > $@.tables
	$(Q)sed -e '/^<!-- made by make docs -->/r $@.tables' \
		-e '/^<!-- made by make docs -->/,/^<!-- end -->/{//!d}' $< > $@

docs: $(O)/print-registers $(O)/print-dare-registers $(O)/print-virgo-registers $(O)/dare-isa.md $(O)/timing.md
	$(Q)$< > docs/maple-registers.md
	$(Q)$(O)/print-dare-registers > docs/dare-registers.md
	$(Q)$(O)/print-virgo-registers > docs/virgo-registers.md
	$(Q)cp $(O)/dare-isa.md docs/dare-isa.md
	$(Q)cp $(O)/timing.md docs/timing.md

# Fails if somebody changed the lists and not the page.
docs-check: $(O)/print-registers $(O)/print-dare-registers $(O)/print-virgo-registers $(O)/dare-isa.md $(O)/timing.md
	$(Q)$< | diff -u docs/maple-registers.md -
	$(Q)$(O)/print-dare-registers | diff -u docs/dare-registers.md -
	$(Q)$(O)/print-virgo-registers | diff -u docs/virgo-registers.md -
	$(Q)diff -u docs/dare-isa.md $(O)/dare-isa.md
	$(Q)diff -u docs/timing.md $(O)/timing.md
