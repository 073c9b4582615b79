package operation

import (
	"bytes"
	"slices"

	"github.com/writ-kernel/writ/kernel/record"
	storev1 "github.com/writ-kernel/writ/kernel/record/writ/store/v1"
	"github.com/writ-kernel/writ/kernel/store"
)

// The three indexes of jobs are queues: rows are added at the end and removed at the front. In a
// log-structured store every removed row leaves a tombstone that a scan from the front walks over, so
// each index keeps a low-water mark, and a claim costs the same after a million finished jobs.

// put stores a job and keeps its index rows true.
func put(tx store.Tx, before, after *storev1.Job) error {
	if claimable(after) && (before == nil || !claimable(before)) {
		after.ReadyUs = tx.Now()
	}
	was, is := indexKeys(before), indexKeys(after)
	for _, k := range was {
		if !slices.ContainsFunc(is, func(other []byte) bool { return bytes.Equal(k, other) }) {
			if err := tx.Delete(k); err != nil {
				return err
			}
		}
	}
	for _, k := range is {
		if !slices.ContainsFunc(was, func(other []byte) bool { return bytes.Equal(k, other) }) {
			if err := enlist(tx, k, after.Id); err != nil {
				return err
			}
		}
	}
	return record.Put(tx, record.JobKey(after.Id), after)
}

func claimable(job *storev1.Job) bool {
	return job.State == Queued || job.State == Paused && job.Resumable
}

// indexKeys lists where a job in this form must be found: ready to claim, leased, due.
func indexKeys(job *storev1.Job) [][]byte {
	var keys [][]byte
	if job == nil {
		return keys
	}
	if claimable(job) {
		keys = append(keys, record.ReadyKey(job.ReadyUs, job.Id))
	}
	if job.Lease != nil {
		keys = append(keys, record.LeasedKey(job.Lease.ExpiresUs, job.Id))
	}
	if !Ended(job.State) || job.Held {
		keys = append(keys, record.DueKey(job.DeadlineUs, job.Id))
	}
	return keys
}

// enlist adds one index row and lowers the index's mark if the row lies below it.
func enlist(tx store.Tx, k []byte, job string) error {
	if err := record.Put(tx, k, &storev1.Ref{Id: job}); err != nil {
		return err
	}
	index := k[:bytes.IndexByte(k, '/')+1]
	mark, err := lowest(tx, index)
	if err != nil || bytes.Compare(mark, k) <= 0 {
		return err
	}
	return record.Put(tx, record.MarkKey(index), &storev1.Ref{Id: string(k)})
}

// lowest is a key below which the index has no row.
func lowest(r store.Reader, index []byte) ([]byte, error) {
	var mark storev1.Ref
	ok, err := record.Get(r, record.MarkKey(index), &mark)
	if err != nil || !ok {
		return index, err
	}
	return []byte(mark.Id), nil
}

// raiseMarks moves every mark up to the first row that is left. It runs in transactions that write
// anyway, so that looking at an idle store commits nothing.
func raiseMarks(tx store.Tx) error {
	for _, index := range [][]byte{record.ReadyPrefix, record.LeasedPrefix, record.DuePrefix} {
		from, err := lowest(tx, index)
		if err != nil {
			return err
		}
		first := store.PrefixEnd(index)
		err = tx.Scan(from, first, func(k, _ []byte) error {
			first = bytes.Clone(k)
			return store.ErrStop
		})
		if err != nil {
			return err
		}
		if !bytes.Equal(first, from) {
			if err := record.Put(tx, record.MarkKey(index), &storev1.Ref{Id: string(first)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyRange is a part of an index. It is read a few rows at a time, so that a claim costs the same
// however many jobs wait behind the first.
type keyRange struct{ from, to []byte }

// upTo is the part of an index from its first row to a key.
func upTo(r store.Reader, index, to []byte) (keyRange, error) {
	from, err := lowest(r, index)
	if bytes.Compare(from, to) > 0 {
		from = to
	}
	return keyRange{from, to}, err
}

// some reads up to n job IDs and returns the rest of the range.
func (r keyRange) some(tx store.Reader, n int) (ids []string, rest keyRange, err error) {
	rest = keyRange{r.to, r.to}
	err = tx.Scan(r.from, r.to, func(k, _ []byte) error {
		ids = append(ids, record.Last(k))
		if len(ids) == n {
			rest.from = append(bytes.Clone(k), 0)
			return store.ErrStop
		}
		return nil
	})
	return ids, rest, err
}

// Unfinished lists the operations that still have a job that has not ended.
func Unfinished(r store.Reader) ([]string, error) {
	due, err := upTo(r, record.DuePrefix, store.PrefixEnd(record.DuePrefix))
	if err != nil {
		return nil, err
	}
	var operations []string
	err = r.Scan(due.from, due.to, func(k, _ []byte) error {
		job, err := Job(r, record.Last(k))
		if err == nil && !Ended(job.State) && !slices.Contains(operations, job.OperationId) {
			operations = append(operations, job.OperationId)
		}
		return err
	})
	return operations, err
}
