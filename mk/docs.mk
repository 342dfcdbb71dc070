# Pages of the docs, and tables in them, that are made from the lists in the sources.
#
# devices/NAME/docs/PART.c prints docs/NAME-PART.md; scripts/print-timing.c the generated
# parts of docs/timing-soc.md. A page with the marks is written by hand, except between them.

DOCS_MADE := $(patsubst devices/%.c,%,$(wildcard $(KINDS:%=devices/%/docs/*.c)))
DOCS_PAGES := $(subst /docs/,-,$(DOCS_MADE)) timing-soc
DOCS_BEGIN := <!-- made by make docs -->
DOCS_END := <!-- end -->

.PHONY: docs docs-check

# $(1): the page. $(2): the source
define docs_page
$(O)/docs/print-$(1): $(call obj,$(2) scripts/print-blocks.c) $(LIBMIMIC_A)
	@mkdir -p $$(@D)
	$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $(MIMIC_LIBS)

$(O)/docs/$(1).md: $(O)/docs/print-$(1) $(wildcard docs/$(1).md)
	$(Q)$$< > $$@.made
	$(Q)if grep -qsF '$(DOCS_BEGIN)' docs/$(1).md; then \
		sed -e '/^$(DOCS_BEGIN)/r $$@.made' -e '/^$(DOCS_BEGIN)/,/^$(DOCS_END)/{//!d}' docs/$(1).md > $$@; \
	else mv $$@.made $$@; fi
endef
$(foreach made,$(DOCS_MADE),$(eval $(call docs_page,$(subst /docs/,-,$(made)),devices/$(made).c)))
$(eval $(call docs_page,timing-soc,scripts/print-timing.c))

docs: $(DOCS_PAGES:%=$(O)/docs/%.md)
	$(Q)cp $^ docs/

# Fails if the lists were changed and not the page.
docs-check: $(DOCS_PAGES:%=$(O)/docs/%.md)
	$(Q)for page in $(DOCS_PAGES); do diff -u docs/$$page.md $(O)/docs/$$page.md || exit 1; done
