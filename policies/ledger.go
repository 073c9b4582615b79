package policies

// Ledger holds the money ceilings in micro-USD. They bound what Writ holds, reserved, settled and
// unknown together; they are no promise about what a provider bills.
type Ledger struct {
	// OperationAllowance is the most that one operation may declare as its total.
	OperationAllowance int64 `json:"operation_allowance" validate:"min=0,max=5000000"`
	// OwnerDay and DeploymentDay bound one UTC day of one owner and of one deployment.
	OwnerDay      int64 `json:"owner_day" validate:"min=0,max=20000000"`
	DeploymentDay int64 `json:"deployment_day" validate:"min=0,max=20000000"`
}

func defaultLedger() Ledger {
	return Ledger{OperationAllowance: 5_000_000, OwnerDay: 20_000_000, DeploymentDay: 20_000_000}
}
