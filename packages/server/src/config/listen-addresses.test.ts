import { expect, test } from "vitest";
import { isLoopbackHost, listenAddresses } from "./listen-addresses.js";

test("localhost is both loopback addresses, and no address comes twice", () => {
  expect(listenAddresses("localhost")).toEqual(["127.0.0.1", "::1"]);
  expect(listenAddresses(["::1", "LOCALHOST", "10.0.0.1"])).toEqual([
    "::1",
    "127.0.0.1",
    "10.0.0.1",
  ]);
});

test.each(["localhost", "127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])(
  "%s is loopback",
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

test.each(["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.example.org", "::ffff:10.0.0.1"])(
  "%s is not",
  (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  },
);
