import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, median } from './figure.ts';
import { startWarmPool, type WarmPool } from './runners/warm-pool.ts';

/**
 * The cost of a pool for different numbers of runners: the time of a reconcile per Pod, and how soon a finished runner is replaced, from
 * the write of its end to the write of the new Pod. Controller and embedded Kubernetes share this process.
 */

/** Up and down again, so that the JIT compiler favours no size. */
const order = [100, 5_000, 100] as const;
const warmUp = 10;
const passes = 30;
const turnOvers = 30;

interface Measured {
  readonly passMs: number[];
  readonly turnOverMs: number[];
}

const measure = async (pool: WarmPool): Promise<Measured> => {
  const repeated = async (times: number, what: () => Promise<number>): Promise<number[]> => {
    const values: number[] = [];
    for (let count = 0; count < times; count++) values.push(await what());
    return values;
  };
  await repeated(warmUp, pool.pass);
  const passMs = await repeated(passes, pool.pass);
  await repeated(3, pool.turnOver);
  return { passMs, turnOverMs: await repeated(turnOvers, pool.turnOver) };
};

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const measured = new Map<number, Measured>();
  for (const size of order) {
    const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
    try {
      const pool = await startWarmPool(folder, size);
      try {
        const { passMs, turnOverMs } = await measure(pool);
        const before = measured.get(size);
        measured.set(size, {
          passMs: [...(before?.passMs ?? []), ...passMs],
          turnOverMs: [...(before?.turnOverMs ?? []), ...turnOverMs],
        });
      } finally {
        await pool.stop();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const perPod = (size: number): number => median(measured.get(size)?.passMs ?? []) / size;
  for (const [size, { passMs, turnOverMs }] of measured)
    say(
      `${size} Pods: a pass takes ${median(passMs).toFixed(1)} ms, ${(perPod(size) * 1000).toFixed(1)} µs a Pod; ended to replaced ${median(turnOverMs).toFixed(0)} ms`,
    );
  return [
    {
      what: 'time of a pass for each Pod, 5,000 against 100',
      value: perPod(5_000) / perPod(100),
      unit: 'ratio',
      goal: '<= 1.5',
    },
    ...[100, 5_000].map((size) => ({
      what: `a runner has ended to another is made, of ${size} Pods`,
      value: median(measured.get(size)?.turnOverMs ?? []),
      unit: 'ms',
      goal: '<= 250',
    })),
  ];
};
