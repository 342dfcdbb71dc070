# The style of `mimic report`'s page, as a text in C.

REPORT_SRC := $(filter-out tools/report/report.c,$(wildcard tools/report/*.c tools/plot/*.c))

$(O)/gen/report_css.inc: tools/report/report.css
	@mkdir -p $(@D)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

$(call obj,tools/report/style.c): $(O)/gen/report_css.inc
$(call obj,tools/report/style.c): ALL_CFLAGS += -I$(O)/gen

# Commands lie in no archive.
$(filter $(O)/tests/unit/test_report_% $(O)/tests/unit/test_plot_%,$(TESTS)): $(call obj,$(REPORT_SRC))
