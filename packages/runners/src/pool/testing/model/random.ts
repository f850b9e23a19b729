/** A whole number from 0 up to, not including, `below`. The same seed gives the same numbers (mulberry32). */
export type RandomInt = (below: number) => number;

export const seededRandom = (seed: number): RandomInt => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};
