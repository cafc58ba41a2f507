//go:build !race

package raftstore

// WallRate is the rate of clusters in tests whose elections are timed by the wall's clock.
const WallRate = 5
