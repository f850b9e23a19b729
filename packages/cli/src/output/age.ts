import type { Cell } from './table.ts';

const units: readonly (readonly [milliseconds: number, letter: string])[] = [
  [24 * 3_600_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** `90s`, `12m`, `3h`, `5d`. */
export const age = (milliseconds: number): string => {
  if (!Number.isFinite(milliseconds)) return '?';
  const [size, letter] = units.find(([unit]) => milliseconds >= 2 * unit) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(milliseconds / size))}${letter}`;
};

/** The age of a timestamp; empty without one. */
export const ageSince = (time: string | undefined | null, now: number): string =>
  time ? age(now - Date.parse(time)) : '';

/** The age of a timestamp in a table of an observation made at `at`. */
export const ageCell = (time: string | undefined | null, at: string): Cell => ({
  text: ageSince(time, Date.parse(at)),
  passing: true,
});
