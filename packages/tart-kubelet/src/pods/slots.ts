import type { VmRecord } from '../journal/record.ts';

const mayBeOn = ({ state }: VmRecord): boolean => state.kind !== 'ended';

const isBefore = (one: VmRecord, other: { readonly createdAt: number; readonly uid: string }): boolean =>
  one.createdAt === other.createdAt ? one.pod.uid < other.uid : one.createdAt < other.createdAt;

/**
 * How many slots are not for this Pod: every virtual machine that is on, whoever started it, and those of Pods that came first and are
 * on their way. Only those that came first: if each waited for the other, neither would ever start.
 */
export const slotsOfOthers = (
  mine: { readonly uid: string; readonly vm: string; readonly createdAt: number },
  running: readonly string[],
  records: readonly VmRecord[],
): number => {
  const promised = records.filter((one) => one.pod.uid !== mine.uid && mayBeOn(one) && isBefore(one, mine));
  return new Set([...running, ...promised.map(({ vm }) => vm)].filter((vm) => vm !== mine.vm)).size;
};
