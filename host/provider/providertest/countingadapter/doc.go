// Command countingadapter is the test adapter of package providertest: it carries each request to
// the counting server whose socket the model name gives, once, and brings the reply back unread.
//
// It is a fake far end for crash tests and no first-party plugin. Unlike a real local model it
// opens a socket and is not deterministic, which is why nothing but a test may build it.
package main
