const units: readonly (readonly [milliseconds: number, letter: string])[] = [
  [24 * 3_600_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
];

/** `90s`, `12m`, `3h`, `5d`: one number, large enough to compare. */
export const age = (milliseconds: number): string => {
  if (!Number.isFinite(milliseconds)) return '?';
  const [size, letter] = units.find(([unit]) => milliseconds >= 2 * unit) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(milliseconds / size))}${letter}`;
};

/** Since a time of the wire; empty when there is none. */
export const ageSince = (time: string | undefined | null, now: number): string =>
  time ? age(now - Date.parse(time)) : '';
