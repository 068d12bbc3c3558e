/** What a variable like CUDA_VISIBLE_DEVICES leaves of the devices. */
export interface Visible<Device> {
  visible: Device[];
  /** Entries that are not numbers, as they are written. */
  named: string[];
}

/**
 * Reads the variable as CUDA and HIP do: numbers of devices or beginnings of their identifiers, in the
 * order in which they are to be counted; what follows an entry that names none is not seen
 * (https://docs.nvidia.com/cuda/cuda-c-programming-guide/#env-vars). Absent: all of them.
 */
export function visibleOnly<Device>(
  value: string | undefined,
  devices: readonly Device[],
  identifier: (device: Device) => string,
): Visible<Device> {
  if (value === undefined) return { visible: [...devices], named: [] };
  const entries = value.split(",").map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== "" && !/^-?\d+$/.test(entry));
  const visible: Device[] = [];
  for (const entry of entries) {
    const device = /^\d+$/.test(entry)
      ? devices[Number(entry)]
      : devices.find((one) => entry !== "" && identifier(one).startsWith(entry));
    if (device === undefined || visible.includes(device)) break;
    visible.push(device);
  }
  return { visible, named };
}
