package daemon

import (
	"testing"

	"github.com/writ-kernel/writ/kernel/store"
)

func TestSystemClockShowsWallStepsAndCountsUp(t *testing.T) {
	var clock store.Clock = NewSystemClock()
	first := clock.Mono()
	if second := clock.Mono(); second < first || first < 0 {
		t.Errorf("went from %v to %v", first, second)
	}
	// A monotonic reading would hide a step of the wall clock in differences.
	if wall := clock.Wall(); wall != wall.Round(0) || wall.Location().String() != "UTC" {
		t.Errorf("got %v", wall)
	}
}
