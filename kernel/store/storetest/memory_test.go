package storetest_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/writ-kernel/writ/kernel/store"
	"github.com/writ-kernel/writ/kernel/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() store.Engine { return new(storetest.Memory).Engine })
}
