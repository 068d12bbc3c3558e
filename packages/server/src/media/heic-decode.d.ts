declare module "heic-decode" {
  interface Decoded {
    width: number;
    height: number;
    /** Red, green, blue, alpha. */
    data: Uint8ClampedArray;
  }
  interface Undecoded {
    width: number;
    height: number;
    decode(): Promise<Decoded>;
  }
  interface Decode {
    (options: { buffer: Uint8Array }): Promise<Decoded>;
    all(options: { buffer: Uint8Array }): Promise<Undecoded[] & { dispose(): void }>;
  }
  const decode: Decode;
  export default decode;
}
