import Type from "typebox";
import { DEFAULTS } from "../defaults.js";
import { Bytes, Choice, Count, FilePath, Flag, Table, Text } from "./settings.js";

/** `[hardware]`: how much of the machine may be used. */
export const HardwareSettings = Table(
  {
    max_process_memory_bytes: Type.Optional(
      Bytes({
        description: "The most memory the server and its engines may use together, in bytes.",
      }),
    ),
    cpu_lane: Flag({
      default: DEFAULTS.hardware.cpu_lane,
      description:
        "Whether text models that compute on the processor take turns: two at once slow each other down.",
    }),
    kv_park: Flag({
      default: DEFAULTS.hardware.kv_park,
      description:
        "Whether conversations are kept when their model is unloaded, so that they go on at once when it is back.",
    }),
    kv_park_max_bytes: Bytes({
      default: DEFAULTS.hardware.kv_park_max_bytes,
      description: "The most memory for kept conversations, in bytes.",
    }),
    simulate: Type.Optional(
      Table(
        {
          name: Type.Optional(
            Text({ description: "The name the made-up device is reported under." }),
          ),
          vram_bytes: Type.Optional(Count({ description: "Memory of the device, in bytes." })),
          ram_bytes: Type.Optional(Bytes({ description: "Memory of the machine, in bytes." })),
          unified_memory: Type.Optional(
            Flag({ description: "Whether the device shares the machine's memory." }),
          ),
          host_to_device_bytes_per_sec: Type.Optional(
            Bytes({ description: "Speed from memory to the device, in bytes a second." }),
          ),
          disk_bytes_per_sec: Type.Optional(
            Bytes({ description: "Speed from disk to memory, in bytes a second." }),
          ),
        },
        {
          description:
            "A made-up accelerator, to see how models would be placed on another machine.",
        },
      ),
    ),
  },
  { description: "How much of the machine may be used." },
);

/** `[engines]`: the programs that run models. */
export const EngineSettings = Table(
  {
    llama: Table(
      {
        path: Type.Optional(
          FilePath({
            path: "config_folder",
            description:
              "The llama-server program to use. Without it: the one that `somnus engine use` chose, the one on PATH, an installed one, a ready-made one of the project's release, or a build from source.",
          }),
        ),
        threads: Type.Optional(
          Count({
            minimum: 1,
            maximum: 1024,
            description: "Threads of a text engine. Without it the number follows the processor.",
          }),
        ),
        source_build: Flag({
          default: DEFAULTS.engines.llama.source_build,
          description:
            "Whether llama.cpp may be built from source when no usable program is found.",
        }),
        release_build: Flag({
          default: DEFAULTS.engines.llama.release_build,
          description:
            "Whether a ready-made llama.cpp may be fetched from the project's release when no usable program is found.",
        }),
        release_url: Type.Optional(
          Text({
            pattern: "^https?://.*/$",
            must: "be an address that ends with a slash",
            description:
              "A mirror of the release files, in place of the project's own address; `{build}` in it stands for the build's number. Plain http only for this machine.",
          }),
        ),
        wait_policy: Choice(["brief", "passive"], {
          default: DEFAULTS.engines.llama.wait_policy,
          description:
            "How a compute thread waits for more work: `brief` spins for a moment before it sleeps, fastest on a machine of one's own; `passive` sleeps at once, kinder where others compute too.",
        }),
      },
      { description: "llama.cpp, for text models." },
    ),
  },
  { description: "The programs that run models." },
);

/** `[paths]`: where the server keeps its files. */
export const PathSettings = Table(
  {
    cache_dir: FilePath({
      path: "config_folder",
      computed: "the user's cache folder",
      description: "What can be fetched or built again: engines, downloads.",
    }),
    data_dir: FilePath({
      path: "config_folder",
      computed: "the user's data folder",
      description: "What should be kept: models.",
    }),
  },
  { description: "Where the server keeps its files." },
);
