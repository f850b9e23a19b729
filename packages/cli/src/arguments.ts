import { InvalidArgumentError } from 'commander';

export const port = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65_535) {
    throw new InvalidArgumentError('a port is a whole number from 0 (any free one) to 65535.');
  }
  return value;
};

export const countOf =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`it is a whole number from ${least} to ${most}.`);
  };
