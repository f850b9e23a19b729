import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildManager } from '@tartan/tools-build';
import type { Figure } from './figure.ts';
import { type BringUp, bringUp } from './fleet-pass/bring-up.ts';
import { measureStatusWrites, type StatusWriteCost } from './fleet-pass/status-writes.ts';
import { captureFleet } from './settled-fleet/template.ts';
import { sizeFrom } from './size.ts';

/**
 * What a machine costs in a large fleet.
 *
 * Status writes: CPU and requests of the manager for one status write of a machine that its fleet has to count, in settled fleets of
 * different sizes. The manager is the program that ships, in its own process; the machines are clones of one that a simulated fleet has
 * brought up.
 *
 * Bring-up: requests for each machine, and how long keys wait for a worker, when all machines are created at once. On virtual time, in this
 * process: each request takes 10 ms and each push a second, and the limits of the manager's clients apply.
 */

export const size = {
  small: sizeFrom('TARTAN_BENCH_SMALL', 50),
  medium: sizeFrom('TARTAN_BENCH_MEDIUM', 500),
  large: sizeFrom('TARTAN_BENCH_LARGE', 5_000),
  writes: sizeFrom('TARTAN_BENCH_WRITES', 300),
};

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const { small, medium, large, writes } = size;
  const bringUps = new Map<number, BringUp>();
  for (const count of [small, medium]) {
    const result = await bringUp(count);
    bringUps.set(count, result);
    const [slowest, wait] = [...result.longestWaits].reduce((a, b) => (b[1] > a[1] ? b : a), ['none', 0]);
    const kinds = [...result.requests]
      .sort(([, a], [, b]) => b - a)
      .map(([kind, each]) => `${kind} ${each.toFixed(1)}`);
    say(
      `${count} machines at once are Ready after ${result.seconds.toFixed(0)} s: ${requestsOf(result).toFixed(1)} requests for each (${kinds.join(', ')}); the longest wait for a worker is ${wait.toFixed(2)} s (${slowest})`,
    );
  }

  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const costs = new Map<number, StatusWriteCost>();
  try {
    const program = await buildManager(join(folder, 'manager'));
    const template = await captureFleet(join(folder, 'fleet'), []);
    for (const machines of [small, medium, large]) {
      const place = join(folder, String(machines));
      await mkdir(place);
      const cost = await measureStatusWrites({ folder: place, program, template, machines, writes });
      costs.set(machines, cost);
      say(
        `${machines} machines: a status write costs ${cost.cpu.toFixed(2)} ms of CPU and ${cost.requests.toFixed(2)} requests`,
      );
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }

  const ratio = (of: (cost: StatusWriteCost) => number): number =>
    of(costs.get(large) ?? nothing) / of(costs.get(small) ?? nothing);
  const waits = [...(bringUps.get(medium)?.longestWaits.values() ?? [Number.NaN])];
  const requests = (count: number): number => requestsOf(bringUps.get(count));
  return [
    {
      what: `CPU of the manager for a status write with ${large} machines, against ${small}`,
      value: ratio(({ cpu }) => cpu),
      unit: 'ratio',
      goal: '<= 1.5',
    },
    {
      what: `requests of the manager for a status write with ${large} machines, against ${small}`,
      value: ratio(({ requests: each }) => each),
      unit: 'ratio',
      goal: '<= 1.5',
    },
    {
      what: `longest wait of a key for a worker while ${medium} machines are brought up`,
      value: Math.max(...waits),
      unit: 's',
      goal: '<= 1',
    },
    {
      what: `requests for each of ${medium} machines that are brought up at once, against ${small}`,
      value: requests(medium) / requests(small),
      unit: 'ratio',
      goal: '<= 1.5',
    },
  ];
};

const nothing: StatusWriteCost = { cpu: Number.NaN, requests: Number.NaN };

const requestsOf = (result: BringUp | undefined): number =>
  [...(result?.requests.values() ?? [Number.NaN])].reduce((sum, each) => sum + each, 0);
