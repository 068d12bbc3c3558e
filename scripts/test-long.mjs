// Syntax of 2019 on purpose: see setup.mjs.
// The same tests, with ten times as many random orders of events.
process.env.SOMNUS_PROPERTY_RUNS = process.env.SOMNUS_PROPERTY_RUNS || "10000";
import("./test.mjs");
