// Package registrytest builds the first-party plugins for tests. It owns the folder .cache of the
// checkout and nothing else; a test never sees a plugin that the checkout's sources do not give.
package registrytest
