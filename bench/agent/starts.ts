import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../figure.ts';
import type { BenchMac } from './mac.ts';
import type { PodMaker } from './pods.ts';
import type { TartCall } from './tart-calls.ts';

/** The start of one Pod. All times in milliseconds. */
export interface Start {
  /** From bound to `tart run`. */
  readonly total: number;
  /** Each call of `tart` before that, and its duration. */
  readonly calls: readonly (readonly [command: string, took: number])[];
  /** Between the calls: `bound > clone`, `clone > set`, `set > run`. */
  readonly gaps: readonly (readonly [what: string, took: number])[];
  /** From the address until other clients see it running. */
  readonly visible: number;
  /** From bound until then. */
  readonly whole: number;
}

/** Other calls collect facts about the Mac, at any time. */
const towardsStart = new Set(['get', 'list', 'clone', 'set', 'run']);

const startOf = (
  { bound, running }: { readonly bound: number; readonly running: number },
  lease: number,
  calls: readonly TartCall[],
): Start => {
  const mine = calls
    .filter(({ began, command }) => towardsStart.has(command) && began > bound - 50 && began < running)
    .toSorted((a, b) => a.began - b.began);
  const run = mine.find(({ command }) => command === 'run');
  const before = mine.filter(({ began, ended }) => run !== undefined && ended !== undefined && began < run.began);
  const marks = [{ command: 'bound', began: bound, ended: bound }, ...before, ...(run ? [run] : [])];
  return {
    total: (run?.began ?? Number.NaN) - bound,
    calls: before.map(({ command, began, ended = began }) => [command, ended - began]),
    gaps: marks.slice(1).map(({ command, began }, index) => {
      const last = marks[index];
      return [`${last?.command} > ${command}`, began - (last?.ended ?? began)];
    }),
    visible: running - lease,
    whole: running - bound,
  };
};

/** Lets the agent finish its cleanup before the next start. */
const restMs = 500;

/** One Pod after the other, each on an idle agent. */
export const measureStarts = async (maker: PodMaker, mac: BenchMac, name: string, count: number): Promise<Start[]> => {
  const starts: Start[] = [];
  for (let number = 1; number <= count; number++) {
    const pod = `${name}-${number}`;
    const started = await maker.start(pod);
    starts.push(startOf(started, mac.lastLease(), await mac.calls()));
    await maker.remove(pod);
    await sleep(restMs);
  }
  return starts;
};

/** From the creation of two at once until both run. */
export const measurePairs = async (maker: PodMaker, name: string, count: number): Promise<number[]> => {
  const times: number[] = [];
  for (let number = 1; number <= count; number++) {
    const both = [`${name}-${number}-a`, `${name}-${number}-b`];
    const started = await Promise.all(both.map((pod) => maker.start(pod)));
    times.push(Math.max(...started.map(({ running }) => running)) - Math.min(...started.map(({ bound }) => bound)));
    await Promise.all(both.map((pod) => maker.remove(pod)));
  }
  return times;
};

/** The total without the calls. */
export const ownShare = ({ gaps }: Start): number => gaps.reduce((sum, [, took]) => sum + took, 0);

/** The median of each part, in order of occurrence. */
export const mediansOf = (parts: readonly (readonly (readonly [string, number])[])[]): [string, number][] => {
  const byName = new Map<string, number[]>();
  for (const [what, took] of parts.flat()) byName.set(what, [...(byName.get(what) ?? []), took]);
  return [...byName].map(([what, times]) => [what, median(times)]);
};
