/** One measured value and its goal: `<= 2`, `>= 5`. */
export interface Figure {
  what: string;
  value: number;
  unit: string;
  goal: string;
}

export type Benchmark = (say: (line: string) => void) => Promise<Figure[]>;

export interface Judged extends Figure {
  met: boolean;
}

/** An invalid goal, or a value that is NaN, is never met. */
export const judge = (figure: Figure): Judged => {
  const value = Math.round(figure.value * 1000) / 1000;
  const [, operator, limit] = /^(<=|>=|<|>) (\d+(?:\.\d+)?)$/.exec(figure.goal) ?? [];
  const bound = Number(limit);
  const met =
    (operator === '<=' && value <= bound) ||
    (operator === '>=' && value >= bound) ||
    (operator === '<' && value < bound) ||
    (operator === '>' && value > bound);
  return { ...figure, value, met };
};

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
