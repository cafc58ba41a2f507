package kinds

// Desired is how many replicas a workload asks for; one where it does not say.
func Desired(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}
