//go:build race

package raftstore

// WallRate is the rate of clusters in tests whose elections are timed by the wall's clock; the race detector makes a machine so much slower that they need all the time they can have.
const WallRate = 1
