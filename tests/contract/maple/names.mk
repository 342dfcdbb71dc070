# MAPLE was the only device when its programs got their names: test_contract_embedded_trap.
CONTRACT_NAME_maple := test_contract_
