# make wheel: the Python package, for pip install. make check-python: its tests, with the libraries of the build directory;
# it skips, and says so, where PYTHON has no numpy or no pytest.

PYTHON ?= python3
WHEEL = $(O)/python/mimic-$(VERSION)-py3-none-any.whl
PYTHON_SRC := $(wildcard python/mimic/*.py)

.PHONY: wheel check-python
wheel: $(WHEEL)
	@echo $(WHEEL)

$(WHEEL): python/make_wheel.py $(PYTHON_SRC) $(wildcard include/mimic/*_registers.h)
	$(if $(Q),@echo "  WHEEL   $@")
	$(Q)$(PYTHON) $< $(VERSION) $(@D) >/dev/null

check-python: $(WHEEL) all
	$(Q)PYTHON=$(PYTHON) tests/python/test-python.sh "$(abspath $(O))" "$(abspath $(WHEEL))"
