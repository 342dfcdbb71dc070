# make lint: style of changed lines, scripts, spelling. LINT_BASE=REVISION: changed since then.

.PHONY: lint packages-lint

packages-lint:
	$(Q)sh scripts/packages.sh lint

lint: packages-lint
	$(Q)scripts/lint.sh $(LINT_BASE)
