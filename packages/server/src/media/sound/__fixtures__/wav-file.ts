/** How samples are stored in a WAV file. */
export interface Layout {
  bits?: 8 | 16 | 24 | 32 | 64;
  float?: boolean;
  extensible?: boolean;
  channels?: number;
  rate?: number;
  /** A chunk in front of the samples. */
  before?: Buffer;
}

/** A WAV file of samples from -1 to 1, those of several channels after each other. */
export function wavFile(samples: Iterable<number>, layout: Layout = {}): Buffer {
  const { bits = 16, float = false, extensible = false, channels = 1, rate = 16_000 } = layout;
  const list = [...samples];
  const data = Buffer.alloc((list.length * bits) / 8);
  list.forEach((sample, at) => {
    const place = (at * bits) / 8;
    if (float && bits === 64) data.writeDoubleLE(sample, place);
    else if (float) data.writeFloatLE(sample, place);
    else if (bits === 8) data.writeUInt8(Math.min(255, Math.round(sample * 0x80) + 0x80), place);
    else
      data.writeIntLE(
        Math.min(Math.round(sample * 2 ** (bits - 1)), 2 ** (bits - 1) - 1),
        place,
        bits / 8,
      );
  });
  const tag = float ? 3 : 1;
  const format = Buffer.alloc(extensible ? 40 : 16);
  format.writeUInt16LE(extensible ? 0xfffe : tag, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE((rate * channels * bits) / 8, 8);
  format.writeUInt16LE((channels * bits) / 8, 12);
  format.writeUInt16LE(bits, 14);
  if (extensible) format.writeUInt16LE(tag, 24);
  const chunks = [chunk("fmt ", format), layout.before ?? Buffer.alloc(0), chunk("data", data)];
  const body = Buffer.concat([Buffer.from("WAVE", "latin1"), ...chunks]);
  return Buffer.concat([chunk("RIFF", body)]);
}

function chunk(name: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.write(name, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
