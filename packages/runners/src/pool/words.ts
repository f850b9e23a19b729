import { timestamp } from '@tartan/kube/clock';

/** How numbers and times are written for people. Times, and no ages: a text that changes by itself would be written for ever. */

export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

export const since = (at: number): string => `since ${timestamp(at)}`;

/** `a, b and c`, of those that are something. */
export const listed = (parts: readonly (string | false)[]): string => {
  const all = parts.filter((part) => part !== false);
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1) ?? ''}`;
};
