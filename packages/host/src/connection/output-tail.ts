/** Keeps the end of what a command writes: the reason for a failure stands there (I-11, G-03). */
export interface OutputTail {
  add(bytes: Buffer): void;
  text(): string;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

export const outputTail = (cap: number): OutputTail => {
  // Copied, because a small piece of a packet would keep the whole packet.
  let kept = Buffer.alloc(0);
  let cut = false;
  return {
    add: (bytes) => {
      kept = Buffer.concat([kept, bytes]);
      if (kept.length <= cap) return;
      kept = kept.subarray(kept.length - cap);
      cut = true;
    },
    text: () => {
      if (!cut) return kept.toString();
      // A character that was cut in two is left out whole: at most three bytes of it are left.
      let start = 0;
      while (start < 3 && isContinuation(kept[start])) start++;
      return kept.toString('utf8', start);
    },
  };
};
