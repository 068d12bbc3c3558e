import { expect, it } from "vitest";
import { appleGraphics } from "../hardware/apple.js";
import { madeUp } from "./__fixtures__/machines.js";
import { budgetsOf } from "./budgets.js";

const GiB = 2 ** 30;
const terms = {
  processMemoryCapBytes: null,
  ownBytes: 0,
  unaccountedDeviceBytes: [],
  unaccountedHostBytes: 0,
};

function mac(ramBytes: number, deviceBytes: number, simulated: boolean) {
  const machine = madeUp({ ram: 1, unified: true });
  return {
    ...machine,
    simulated,
    devices: machine.devices.map((device) => ({ ...device, totalBytes: deviceBytes })),
    host: { ...machine.host, totalBytes: ramBytes },
  };
}

function measuredDeviceBytes(totalBytes: number): number {
  const facts = { chip: null, availableBytes: null, lockableBytes: null, graphicsLimitBytes: null };
  const [gpu] = appleGraphics({ ...facts, totalBytes }).gpus;
  return gpu?.totalBytes ?? Number.NaN;
}

it.each([
  [24 * GiB, 16 * GiB],
  [36 * GiB, 27 * GiB],
  [64 * GiB, 48 * GiB],
])("takes Metal's share of a Mac with %i bytes once, measured or made up", (ramBytes, share) => {
  const measured = mac(ramBytes, measuredDeviceBytes(ramBytes), false);
  expect(budgetsOf(measured, terms).devices[0]?.bytes).toBe(share);
  const invented = mac(ramBytes, ramBytes, true);
  expect(budgetsOf(invented, terms).devices[0]?.bytes).toBe(share);
});

it("gives a made-up device no more than it has", () => {
  const machine = mac(64 * GiB, 12 * GiB, true);
  expect(budgetsOf(machine, terms).devices[0]?.bytes).toBe(12 * GiB);
});
