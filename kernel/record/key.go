package record

import (
	"fmt"
	"math"
	"strings"

	"github.com/writ-kernel/writ/abi/canon"
)

// Key is a row's place in the store.
func key(table string, parts ...string) []byte {
	return []byte(table + "/" + strings.Join(parts, "/"))
}

// prefix is a key range over every row below the parts.
func prefix(table string, parts ...string) []byte {
	return append(key(table, parts...), '/')
}

// sortable renders n so that byte order is number order.
func sortable(n uint64) string { return fmt.Sprintf("%020d", n) }

// newestFirst renders a time so that byte order is reverse time order.
func newestFirst(us int64) string { return sortable(uint64(math.MaxInt64 - us)) }

// Rows that exist once.
var (
	StoreKey = []byte("store")
	TreeKey  = []byte("tree")
)

func OwnerKey(name string) []byte            { return key("owner", name) }
func RootKey(owner string) []byte            { return key("root", owner) }
func GoalKey(owner, id string) []byte        { return key("goal", owner, id) }
func SourceKey(owner, id string) []byte      { return key("source", owner, id) }
func SourcePrefix(owner string) []byte       { return prefix("source", owner) }
func OperationKey(id string) []byte          { return key("operation", id) }
func JobKey(id string) []byte                { return key("job", id) }
func JobPrefix(operation string) []byte      { return []byte("job/" + operation + ".") }
func AttemptKey(job string, n uint32) []byte { return key("attempt", job, sortable(uint64(n))) }
func CheckpointKey(job string, n uint32) []byte {
	return key("checkpoint", job, sortable(uint64(n)))
}
func CheckpointPrefix(job string) []byte { return prefix("checkpoint", job) }
func EventKey(operation string, seq uint64) []byte {
	return key("event", operation, sortable(seq))
}
func EventPrefix(operation string) []byte       { return prefix("event", operation) }
func ReservationKey(id string) []byte           { return key("reservation", id) }
func ReservationPrefix(operation string) []byte { return []byte("reservation/" + operation + ".") }
func GroupKey(operation string) []byte          { return key("group", operation) }
func SumKey(scope string) []byte                { return key("sum", scope) }
func MaterializationKey(id string) []byte       { return key("materialization", id) }
func MaterializationPrefix(operation string) []byte {
	return []byte("materialization/" + operation + ".")
}
func ArtifactKey(owner, sha256 string) []byte { return key("artifact", owner, sha256) }
func LeafKey(index int64) []byte              { return key("leaf", sortable(uint64(index))) }
func TreeHashKey(index int64) []byte          { return key("treehash", sortable(uint64(index))) }

// IdempotencyKey finds an operation by the caller's own key, which is hashed because it is free text.
func IdempotencyKey(owner, capability, idempotency string) []byte {
	return key("idempotency", owner, capability, canon.Digest([]byte(idempotency)))
}

// OverrunKey exists while an overrun of the deployment waits for review.
func OverrunKey(deployment, reservation string) []byte {
	return key("overrun", canon.Digest([]byte(deployment)), reservation)
}

// OverrunPrefix covers the unreviewed overruns of one deployment, whoever owns them.
func OverrunPrefix(deployment string) []byte {
	return prefix("overrun", canon.Digest([]byte(deployment)))
}

// HistoryKey lists an owner's operations, newest first.
func HistoryKey(owner string, createdUS int64, operation string) []byte {
	return key("history", owner, newestFirst(createdUS), operation)
}

// HistoryPrefix covers every operation of the owner.
func HistoryPrefix(owner string) []byte { return prefix("history", owner) }

// ReadyKey lists jobs that may be claimed, by the moment they became so.
func ReadyKey(readyUS int64, job string) []byte {
	return key("ready", sortable(uint64(readyUS)), job)
}

// LeasedKey lists jobs with a holder, by the moment their lease expires.
func LeasedKey(expiresUS int64, job string) []byte {
	return key("leased", sortable(uint64(expiresUS)), job)
}

// DueKey lists unfinished jobs by deadline.
func DueKey(deadlineUS int64, job string) []byte {
	return key("due", sortable(uint64(deadlineUS)), job)
}

// Prefixes of the three job indexes.
var (
	ReadyPrefix  = []byte("ready/")
	LeasedPrefix = []byte("leased/")
	DuePrefix    = []byte("due/")
)

// MarkKey holds the low-water mark of an index: no row of it lies below.
func MarkKey(index []byte) []byte { return key("mark", strings.TrimSuffix(string(index), "/")) }

// Last is the last part of a key.
func Last(k []byte) string {
	s := string(k)
	return s[strings.LastIndexByte(s, '/')+1:]
}

// SortableUS reads back the time part of an index key: table/time/job.
func SortableUS(k []byte) int64 {
	parts := strings.Split(string(k), "/")
	var us int64
	if len(parts) > 1 {
		_, _ = fmt.Sscanf(parts[1], "%d", &us)
	}
	return us
}
