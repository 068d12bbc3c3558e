const LARGE_MAC_FROM = 36 * 2 ** 30;

/**
 * Bytes of a Mac's memory that Metal recommends as working set (MTLDevice.recommendedMaxWorkingSetSize,
 * https://developer.apple.com/documentation/metal/mtldevice/recommendedmaxworkingsetsize) while no
 * limit is set: two thirds under 36 GiB, three quarters from there. Newer systems recommend up to a
 * tenth more; the smaller number is safe with both.
 */
export function metalShareBytes(totalBytes: number): number {
  return Math.floor(totalBytes * (totalBytes < LARGE_MAC_FROM ? 2 / 3 : 3 / 4));
}
