const newline = 10;
const blank = 32;

/**
 * How much of a block that was read may be copied: whole lines. A line that fills the block is taken in parts, at a blank if there is
 * one in its second half, so that an address with a password in it is seen whole. `isLast`: nothing more will come behind it.
 */
export const cutBlock = (block: Buffer, isFull: boolean, isLast: boolean): number => {
  const lines = block.lastIndexOf(newline) + 1;
  if (lines > 0) return lines;
  if (!isFull) return isLast ? block.length : 0;
  const words = block.lastIndexOf(blank) + 1;
  return words > block.length / 2 ? words : block.length;
};
