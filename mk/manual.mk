# Pages of the manual: those of commands and files are written by hand (docs/man), those of functions are the
# comments of the public headers (scripts/manual/read.awk says how these are written).

# $(1): a kind with a library. Its main header sorts first; lists that types are made of are in the headers of its kind.
manual_headers = library=lib$(1) include=$(1).h types=0 $(sort $(wildcard $(call library_folder,$(1))/$(1)*.h)) \
	types=1 $(filter include/mimic/$(1)_% devices/$(1)/$(1)_%,$(INSTALL_KIND_H))
MANUAL_HEADERS = $(foreach kind,$(LIBRARY_KINDS),$(call manual_headers,$(kind))) \
	library=libmimic include=mimic/mimic.h types=0 libmimic/mimic.h types=1 include/mimic/access.h \
	library=libmimic-sim include=mimic/sim.h types=0 include/mimic/sim.h
MANUAL_LIBRARIES := $(LIBRARY_KINDS:%=lib%) libmimic libmimic-sim
MANUAL_AWK := $(wildcard scripts/manual/*.awk)

# A page for each function that a comment is about, and one for each library.
MANUAL_FUNCTIONS := $(shell sed -n 's|^ \* \([a-z0-9_]*\)() - .*|\1|p' $(INSTALL_LIBRARY_H) libmimic/mimic.h include/mimic/sim.h)
MANUAL_MADE := $(patsubst %,$(O)/man/%.3,$(MANUAL_FUNCTIONS) $(MANUAL_LIBRARIES))
MANPAGES := $(if $(HAS_SCDOC),$(patsubst docs/man/%.scd,$(O)/man/%,$(wildcard docs/man/*.scd)) $(MANUAL_MADE))

all: $(MANPAGES)

$(O)/man/%: docs/man/%.scd | packages-build
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

# All of them at once: a page refers to others.
$(O)/man/source/made: $(MANUAL_AWK) $(filter-out include=%,$(filter %.h,$(MANUAL_HEADERS)))
	@mkdir -p $(@D)
	$(Q)rm -f $(@D)/*.scd
	$(Q)awk -v folder=$(@D) $(MANUAL_AWK:%=-f %) $(MANUAL_HEADERS)
	$(Q)touch $@

$(MANUAL_MADE): $(O)/man/%.3: $(O)/man/source/made | packages-build
	$(Q)scdoc < $(@D)/source/$*.3.scd > $@

# For tests: the headers whose functions have pages.
.PHONY: print-manual-headers
print-manual-headers:
	@echo $(INSTALL_LIBRARY_H) libmimic/mimic.h include/mimic/sim.h
