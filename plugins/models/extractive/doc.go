// Command extractive is the default local model: a provider adapter that selects exact sentences
// and is no language model, and says so in every answer.
//
// It owns nothing but its answer: no network, no file, no clock, no randomness, so the same request
// gives the same bytes and may be run again. Ranking is in package rank; here is only the service.
package main
