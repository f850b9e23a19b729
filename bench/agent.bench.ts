import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from './agent/cluster.ts';
import { type Idle, measureIdle } from './agent/idle.ts';
import { startMac } from './agent/mac.ts';
import { createPodMaker } from './agent/pods.ts';
import { measurePairs, measureStarts, mediansOf, ownShare, type Start } from './agent/starts.ts';
import { type Figure, median } from './figure.ts';

/**
 * What the agent itself adds to the life of a Pod. A real API server with a real controller manager, the fake `tart`, and the agent as it
 * ships: one bundled file in its own process, with the rights of a Node. The golden base is warm: a first Pod has pulled the image. The
 * cost of Linux and of the stand-ins for macOS commands counts as the agent's.
 */

const nodeName = 'mac-1';
const warmUp = 4;
const starts = 21;
const pairs = 7;

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tartan-bench-')));
  const stops = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })];
  try {
    const cluster = await startCluster(folder, nodeName);
    stops.push(cluster.stop);
    const mac = await startMac(folder, nodeName, cluster.node);
    stops.push(mac.stop);
    const maker = await createPodMaker(cluster.admin, nodeName, mac);
    stops.push(maker.stop);
    await maker.nodeReady();
    await measureStarts(maker, mac, 'warm-up', warmUp);
    say(`load of this machine: ${loadavg()[0]?.toFixed(1)}; a guest has its address ${mac.bootMs} ms after tart run`);

    say(
      `a call of tart begins where it is spawned: ${mac.stampDelayMs.toFixed(1)} ms before bash has started to stamp it`,
    );
    const ones = await measureStarts(maker, mac, 'one', starts);
    sayStarts(say, ones);
    const twos = await measurePairs(maker, 'two', pairs);
    const [one, two] = [median(ones.map(({ whole }) => whole)), median(twos)];
    say(`from created to Running: one ${one.toFixed(0)} ms, two at once ${two.toFixed(0)} ms`);

    await Promise.all(['idle-1', 'idle-2'].map((name) => maker.start(name)));
    const idle = await measureIdle(mac, cluster);
    say(`two idle virtual machines: ${idle.resident.toFixed(1)} MB resident, at most ${idle.most.toFixed(1)}`);
    for (const [what, count] of idle.requests) say(`  ${count} x ${what}`);
    return figuresOf(ones, two / one, idle);
  } finally {
    for (const stop of stops.toReversed()) await stop();
  }
};

const sayStarts = (say: (line: string) => void, all: readonly Start[]): void => {
  const parts = (of: (start: Start) => Start['calls']): string =>
    mediansOf(all.map(of))
      .map(([what, took]) => `${what} ${took.toFixed(1)}`)
      .join(', ');
  say(`${all.length} Pods, medians in ms: bound to tart run ${median(all.map(({ total }) => total)).toFixed(1)}`);
  say(`  calls of tart: ${parts(({ calls }) => calls)}`);
  say(`  ours: ${parts(({ gaps }) => gaps)}`);
  const own = all.map(ownShare).toSorted((a, b) => a - b);
  say(`  ours in all: from ${own[0]?.toFixed(1)} to ${own.at(-1)?.toFixed(1)}`);
};

const figuresOf = (ones: readonly Start[], ratio: number, idle: Idle): Figure[] => [
  {
    what: 'from bound to tart run, without the calls of tart',
    value: median(ones.map(ownShare)),
    unit: 'ms',
    goal: '<= 60',
  },
  {
    what: 'from the address to Running seen by others',
    value: median(ones.map(({ visible }) => visible)),
    unit: 'ms',
    goal: '<= 300',
  },
  { what: 'memory of the agent with two idle virtual machines', value: idle.resident, unit: 'MB', goal: '<= 95' },
  {
    what: 'requests to the API server in an idle minute',
    value: idle.requestsPerMinute,
    unit: 'requests',
    goal: '<= 8',
  },
  { what: 'two virtual machines created at once, against one', value: ratio, unit: 'ratio', goal: '<= 1.3' },
];
