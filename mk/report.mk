# The style of `mimic report`'s page, as a text in C.

REPORT_SRC := $(wildcard tools/report_*.c)

$(O)/gen/report_css.inc: tools/report.css
	@mkdir -p $(@D)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

$(call obj,tools/report_style.c): $(O)/gen/report_css.inc
$(call obj,tools/report_style.c): ALL_CFLAGS += -I$(O)/gen

# Commands lie in no archive.
$(filter $(O)/tests/unit/test_report_%,$(TESTS)): $(call obj,$(REPORT_SRC))
