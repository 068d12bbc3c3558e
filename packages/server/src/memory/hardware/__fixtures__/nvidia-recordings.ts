/**
 * What nvidia-smi has printed on real machines, identifiers shortened to made-up ones. With the fields
 * index, uuid, memory.total, memory.free, mig.mode.current, name unless a name says otherwise.
 */

/** Driver 535, two workstation cards. */
export const TWO_CARDS = [
  "0, GPU-c7b57be0-94ff-d352-a59b-d0ee00aeed43, 8192, 7969, [N/A], Quadro RTX 4000",
  "1, GPU-d6de6afc-bdfe-75c4-5273-0544439153fc, 8192, 8190, [N/A], Quadro RTX 4000",
].join("\n");

/** Driver 610, two consumer cards, mostly taken. */
export const TAKEN_CARDS = [
  "0, GPU-11111111-0000-0000-0000-000000000001, 32607, 3283, [N/A], NVIDIA GeForce RTX 5090",
  "1, GPU-11111111-0000-0000-0000-000000000002, 32607, 2250, [N/A], NVIDIA GeForce RTX 5090",
].join("\n");

/** Driver 440, which does not know mig.mode.current: without that field. */
export const OLD_DRIVER =
  "0, GPU-22b2c6ac-2d49-4863-197c-9c469071178a, 7979, 7801, GeForce RTX 2080";
export const OLD_DRIVER_REFUSAL = 'Field "mig.mode.current" is not a valid field to query.';

/** Driver 580, a machine whose graphics unit shares the memory. */
export const GRACE_BLACKWELL =
  "0, GPU-2dee1e25-b3b5-007e-2b55-79f2d0f2ebe5, [N/A], [N/A], [N/A], NVIDIA GB10";

/** Driver 535, a card that has fallen out of its slot beside one that works. */
export const LOST_CARD = [
  "Unable to determine the device handle for GPU0000:65:00.0: Unknown Error",
  "1, GPU-33333333-0000-0000-0000-000000000001, 16376, 16283, [N/A], NVIDIA RTX A4000",
].join("\n");

/** A card that waits for a reset. */
export const NEEDS_RESET =
  "0, GPU-44444444-0000-0000-0000-000000000001, [GPU requires reset], [GPU requires reset], [N/A], NVIDIA A100-SXM4-80GB";

/** Driver 535, an A100 that is split beside one that is not. */
export const SPLIT_CARD = [
  "0, GPU-513536b6-7d19-9063-b049-1e69664bb298, 81920, 80999, Enabled, NVIDIA A100-SXM4-80GB",
  "1, GPU-513536b6-7d19-9063-b049-1e69664bb299, 81920, 81049, Disabled, NVIDIA A100-SXM4-80GB",
].join("\n");

/** The same from within a container that was given one instance. */
export const SPLIT_CARD_IN_CONTAINER =
  "0, GPU-513536b6-7d19-9063-b049-1e69664bb298, [Insufficient Permissions], [Insufficient Permissions], Enabled, NVIDIA A100-SXM4-80GB";

const instance = (index: number, total: number, free: number) => `
            <mig_device>
                <index>${index}</index>
                <gpu_instance_id>${index + 3}</gpu_instance_id>
                <compute_instance_id>0</compute_instance_id>
                <fb_memory_usage>
                    <total>${total} MiB</total>
                    <reserved>0 MiB</reserved>
                    <used>${total - free} MiB</used>
                    <free>${free} MiB</free>
                </fb_memory_usage>
                <bar1_memory_usage>
                    <total>32767 MiB</total>
                    <used>0 MiB</used>
                    <free>32767 MiB</free>
                </bar1_memory_usage>
            </mig_device>`;

/** The same machine's report (-q -x), cut to what matters and to two instances of unlike sizes. */
export const SPLIT_REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
    <driver_version>535.54.03</driver_version>
    <gpu id="00000000:01:00.0">
        <product_name>NVIDIA A100-SXM4-80GB</product_name>
        <mig_mode>
            <current_mig>Enabled</current_mig>
        </mig_mode>
        <mig_devices>${instance(0, 19968, 19955)}${instance(1, 9856, 9843)}
        </mig_devices>
        <uuid>GPU-513536b6-7d19-9063-b049-1e69664bb298</uuid>
        <fb_memory_usage>
            <total>81920 MiB</total>
            <free>80999 MiB</free>
        </fb_memory_usage>
    </gpu>
    <gpu id="00000000:41:00.0">
        <product_name>NVIDIA A100-SXM4-80GB</product_name>
        <mig_devices>
            None
        </mig_devices>
        <uuid>GPU-513536b6-7d19-9063-b049-1e69664bb299</uuid>
    </gpu>
</nvidia_smi_log>`;

/** The same machine's list (-L). */
export const SPLIT_LIST = [
  "GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-513536b6-7d19-9063-b049-1e69664bb298)",
  "  MIG 2g.20gb     Device  0: (UUID: MIG-c7384736-a75d-5afc-978f-d2f1294409fd)",
  "  MIG 1g.10gb     Device  1: (UUID: MIG-a28ad590-3fda-56dd-84fc-0a0b96edc58d)",
  "GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-513536b6-7d19-9063-b049-1e69664bb299)",
].join("\n");

/** Exit 9: the kernel module is not loaded. */
export const NO_DRIVER =
  "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.";

/** Exit 18: the driver was updated under a running kernel. */
export const MISMATCH =
  "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161";
