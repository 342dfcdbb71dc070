# The register page of the docs and the fuzzer's dictionary, from the register lists.

.PHONY: docs docs-check

$(O)/print-registers: $(call obj,scripts/print-registers.c)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^

$(O)/maple.dict: $(O)/print-registers
	$(Q)$< --dictionary > $@

docs: $(O)/print-registers
	$(Q)$< > docs/maple-registers.md

# Fails if somebody changed the lists and not the page.
docs-check: $(O)/print-registers
	$(Q)$< | diff -u docs/maple-registers.md -
