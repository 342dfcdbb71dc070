# The demo: the example programs, run and put into one table.

DEMO := $(O)/bin/mimic-demo

# Verification compares bit for bit: a fused multiply and add in one of two loops would differ.
$(call obj,$(EXAMPLE_SRC) $(EXAMPLES_WITH_RULES) $(COMMON_SRC)): ALL_CFLAGS += -ffp-contract=off

all: $(DEMO)

$(DEMO): $(call obj,$(wildcard examples/demo*.c) options/options.c) $(LIBMIMIC_A)
	@mkdir -p $(@D)
	$(if $(Q),@echo "  LD      $@")
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(MIMIC_LIBS)

# A demo that finds something wrong has a report, too.
demo: all
	$(Q)rm -f $(O)/demo.json
	$(Q)status=0; $(DEMO) --output $(O)/demo.json $(if $(INPUT),-- '$(INPUT)') || status=$$?; \
	[ ! -e $(O)/demo.json ] || { $(O)/bin/mimic report $(O)/demo.json -o $(O)/report.html && \
		echo "$(O)/report.html shows it all, with plots; $(O)/demo.json has the numbers."; } || exit 1; \
	exit $$status
