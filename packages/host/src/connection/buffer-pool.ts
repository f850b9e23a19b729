/**
 * Buffers that go round between who reads a file and who sends it, instead of a new one for every piece: a third less garbage.
 * Nobody has to give a buffer back: one that is kept by whoever got it is collected as usual.
 */
const free: ArrayBuffer[] = [];
const lent = new WeakSet<ArrayBufferLike>();

/** Three packets of SSH. Less costs speed (one packet: a quarter of it), more costs memory. */
export const bufferSize = 96 * 1024;

/** What a burst of pushes needed is not held for good. */
const keep = 64;

export const takeBuffer = (): Buffer => {
  const bytes = free.pop() ?? new ArrayBuffer(bufferSize);
  lent.add(bytes);
  return Buffer.from(bytes);
};

/** Takes back the buffer of which `piece` is a part, if it is one of ours. The content must not be used any more. */
export const giveBack = ({ buffer }: Buffer): void => {
  if (!(buffer instanceof ArrayBuffer) || !lent.delete(buffer) || free.length >= keep) return;
  free.push(buffer);
};
