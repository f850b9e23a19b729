/** The size of a benchmark: the variables make it smaller for a quick try, and the last line names it. */
export type Size = Readonly<Record<string, number>>;

/** A whole number from the environment, or the default. */
export const sizeFrom = (variable: string, otherwise: number, env = process.env): number => {
  const text = env[variable];
  if (text === undefined || text === '') return otherwise;
  const size = Number(text);
  if (!Number.isInteger(size) || size < 1)
    throw new RangeError(`${variable} is ${text}, and not a whole number above 0`);
  return size;
};
