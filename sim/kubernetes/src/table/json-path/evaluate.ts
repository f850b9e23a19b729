import { isObject } from '../../object.ts';
import type { Step } from './steps.ts';

/** A step that does not fit the value: the whole path then yields nothing. */
class Misfit extends Error {}

const children = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
};

const descendants = (value: unknown): unknown[] => {
  const below = children(value);
  return below.length === 0 ? [] : [value, ...below.flatMap(descendants)];
};

const sliced = (value: unknown, step: Step & { kind: 'slice' }): unknown[] => {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Misfit();
  const { length } = value;
  const from = step.from < 0 ? step.from + length : step.from;
  const given = step.to ?? length;
  // `[-1]` ends at 0, which means the end of the list.
  const to = given < 0 || (given === 0 && step.single) ? given + length : given;
  if (from === to) return [];
  if (from < 0 || from >= length || to < 0 || to > length || from > to || step.by <= 0) throw new Misfit();
  return value.slice(from, to).filter((_, index) => index % step.by === 0);
};

type Scalar = string | number | boolean;
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value);

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  if (!isScalar(left) || !isScalar(right) || typeof left !== typeof right) throw new Misfit();
  if (operator === '==') return left === right;
  if (operator === '!=') return left !== right;
  if (typeof left === 'boolean') throw new Misfit();
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  if (operator === '>') return left > right;
  if (operator === '>=') return left >= right;
  throw new Misfit();
};

const exists = (steps: readonly Step[], element: unknown): boolean => {
  try {
    return walk(steps, [element]).length > 0;
  } catch (error) {
    // The real server counts what it had found when it stumbled, which is at least the element.
    if (error instanceof Misfit) return true;
    throw error;
  }
};

const passes = (step: Step & { kind: 'filter' }, element: unknown): boolean => {
  if (step.operator === 'exists') return exists(step.left, element);
  const left = walk(step.left, [element]);
  if (left.length === 0) return false;
  const right = walk(step.right, [element]);
  if (left.length > 1 || right.length > 1) throw new Misfit();
  return right.length > 0 && compare(left[0], step.operator, right[0]);
};

const take = (step: Step, value: unknown): unknown[] => {
  if (step.kind === 'field') return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
  if (step.kind === 'wildcard') return children(value);
  if (step.kind === 'descend') return descendants(value);
  if (step.kind === 'slice') return sliced(value, step);
  if (step.kind === 'union') return step.paths.flatMap((path) => walk(path, [value]));
  if (step.kind === 'literal') return [step.value];
  if (step.kind === 'word' || !Array.isArray(value)) throw new Misfit();
  return value.filter((element) => passes(step, element));
};

const walk = (steps: readonly Step[], values: readonly unknown[]): unknown[] =>
  steps.reduce<unknown[]>((found, step) => found.flatMap((value) => take(step, value)), [...values]);

export const evaluate = (steps: readonly Step[], object: unknown): unknown[] => {
  try {
    return walk(steps, [object]);
  } catch (error) {
    if (error instanceof Misfit) return [];
    throw error;
  }
};
