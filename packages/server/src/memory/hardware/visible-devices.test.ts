import { expect, test } from "vitest";
import { visibleOnly } from "./visible-devices.js";

const devices = ["GPU-aa11", "GPU-ab22", "GPU-cc33"];
const visible = (value?: string) => visibleOnly(value, devices, (device) => device);

test.each([
  [undefined, devices],
  ["2,0", ["GPU-cc33", "GPU-aa11"]],
  [" 1 , 2 ", ["GPU-ab22", "GPU-cc33"]],
  ["GPU-cc,GPU-aa11", ["GPU-cc33", "GPU-aa11"]],
  ["0,-1,1", ["GPU-aa11"]],
  ["0,9,1", ["GPU-aa11"]],
  ["0,0", ["GPU-aa11"]],
  ["", []],
  ["none", []],
])("of three devices %j leaves %j", (value, left) => {
  expect(visible(value).visible).toEqual(left);
});

test("entries that are names are kept apart", () => {
  expect(visible("0,MIG-1,-1, GPU-aa").named).toEqual(["MIG-1", "GPU-aa"]);
});
