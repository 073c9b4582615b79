package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// IDs are derived, never random: a transition may run twice, and a duplicate admission must name the
// same rows. The store's own random ID salts those that other people could otherwise guess.

func derive(kind string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return kind + "_" + hex.EncodeToString(h.Sum(nil)[:12])
}

// OperationID names an operation by its admission.
func OperationID(storeID []byte, owner, capability, idempotency string) string {
	return derive("op", string(storeID), owner, capability, idempotency)
}

// SourceID names a source by its owner, name and bytes.
func SourceID(owner, name, sha256 string) string { return derive("src", owner, name, sha256) }

// RootID and GoalID name an owner's first authority rows.
func RootID(storeID []byte, owner string) string { return derive("root", string(storeID), owner) }
func GoalID(storeID []byte, owner string) string { return derive("goal", string(storeID), owner) }

// JobID names a job of an operation: slot 0 is the parent.
func JobID(operation string, slot uint32) string { return fmt.Sprintf("%s.%d", operation, slot) }

// OperationOf is the operation part of a job, reservation or materialization ID.
func OperationOf(id string) string {
	operation, _, _ := strings.Cut(id, ".")
	return operation
}

// AttemptID names one tenure on a job.
func AttemptID(job string, n uint32) string { return fmt.Sprintf("%s.a%d", job, n) }

// ReservationID names the one call of a slot.
func ReservationID(operation string, slot uint32) string {
	return fmt.Sprintf("%s.r%d", operation, slot)
}

// MaterializationID names one output of a job, for example its prompt.
func MaterializationID(job, output string) string { return job + "." + output }
