# The styles of pictures and of `mimic report`'s page, as texts in C.

REPORT_SRC := $(filter-out tools/report/report.c,$(wildcard tools/report/*.c tools/plot/*.c))

vpath %.css tools/plot tools/report
$(O)/gen/%_css.inc: %.css
	@mkdir -p $(@D)
	$(Q)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

$(call obj,tools/report/page.c tools/plot/picture.c): $(patsubst %,$(O)/gen/%_css.inc,plot page report)
$(call obj,tools/report/page.c tools/plot/picture.c): ALL_CFLAGS += -I$(O)/gen

# Commands lie in no archive.
$(filter $(O)/tests/unit/test_report_% $(O)/tests/unit/test_plot_%,$(TESTS)): $(call obj,$(REPORT_SRC))
