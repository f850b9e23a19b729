import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodes } from '@tartan/kube';
import { connect } from '@tartan/sim-fleet';
import type { Figure } from './figure.ts';
import { isRunning, usageOfTree } from './laptop/process-tree.ts';
import { sizeFrom } from './size.ts';

/**
 * `npm start -- --machines 50 --hosts played` as a user starts it: how long until all Nodes are Ready, the memory of all its processes, how
 * long a list of the Nodes takes meanwhile and afterwards, and whether Ctrl-C leaves anything. Each list has its own TLS connection, as a
 * kubectl has. Other programs on the machine make it slower: the CPU time is printed too.
 */

export const size = {
  machines: sizeFrom('TARTAN_BENCH_MACHINES', 50),
  /** How long it is used after all are Ready. */
  settledSeconds: sizeFrom('TARTAN_BENCH_SETTLED_SECONDS', 30),
};

const patienceMs = 10 * 60_000;
const listEveryMs = 250;

export const run = async (say: (line: string) => void): Promise<Figure[]> => {
  const { machines, settledSeconds } = size;
  const folder = await mkdtemp(join(tmpdir(), 'tartan-bench-'));
  const argv = ['packages/cli/src/main.ts', 'up', '--machines', String(machines), '--hosts', 'played'];
  const began = performance.now();
  const fleet = spawn(process.execPath, argv, {
    cwd: join(import.meta.dirname, '..'),
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [fleet.stdout, fleet.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(fleet, 'close') as Promise<[number | null]>;
  const root = fleet.pid ?? 0;
  let peak = 0;
  const seen = new Set<number>([root]);
  const look = (): ReturnType<typeof usageOfTree> => {
    const usage = usageOfTree(root);
    peak = Math.max(peak, usage.megabytes);
    for (const pid of usage.pids) seen.add(pid);
    return usage;
  };
  try {
    const lists: number[] = [];
    const countReady = async (): Promise<number> => {
      const [kubeconfig] = globSync('tartan-*/kubeconfig', { cwd: folder });
      if (kubeconfig === undefined) return 0;
      const from = performance.now();
      const { client, transport } = await connect(join(folder, kubeconfig));
      try {
        const { items } = await client.list(nodes);
        lists.push(performance.now() - from);
        return items.filter(({ status }) =>
          status?.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
        ).length;
      } finally {
        transport.close();
      }
    };
    while ((await countReady()) < machines) {
      look();
      if (fleet.exitCode !== null || performance.now() - began > patienceMs)
        throw new Error(`the fleet did not become Ready:\n${output.slice(-4000)}`);
      await sleep(listEveryMs);
    }
    const readyAfter = (performance.now() - began) / 1000;
    const cpuUntilReady = look().cpuSeconds;
    say(`${machines} Nodes are Ready after ${readyAfter.toFixed(1)} s and ${cpuUntilReady.toFixed(1)} s of CPU time`);
    const whileStarting = lists.splice(0);
    for (const end = performance.now() + settledSeconds * 1000; performance.now() < end; await sleep(listEveryMs)) {
      await countReady();
      look();
    }
    const cpuSettled = look().cpuSeconds - cpuUntilReady;
    say(`in ${settledSeconds} s afterwards it used ${cpuSettled.toFixed(1)} s of CPU time`);
    fleet.kill('SIGINT');
    const stopping = performance.now();
    const [code] = await ended;
    say(`it ended with ${code} after ${((performance.now() - stopping) / 1000).toFixed(1)} s`);
    const left = [...seen].filter(isRunning).length + readdirSync(folder).length;
    for (const [when, times] of [
      ['during the start', whileStarting],
      ['afterwards', lists],
    ] as const)
      say(
        `${times.length} lists ${when}: median ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`,
      );
    return [
      { what: `time until ${machines} machines are Ready`, value: readyAfter, unit: 's', goal: '<= 60' },
      { what: 'memory of all processes', value: peak, unit: 'MB', goal: '<= 1500' },
      {
        what: 'p99 of a list of all Nodes, also during the start',
        value: percentile([...whileStarting, ...lists], 0.99) / 1000,
        unit: 's',
        goal: '<= 1',
      },
      { what: 'exit code after Ctrl-C', value: code ?? Number.NaN, unit: '', goal: '<= 0' },
      { what: 'processes and files left after Ctrl-C', value: left, unit: '', goal: '<= 0' },
    ];
  } finally {
    if (fleet.exitCode === null && fleet.signalCode === null) fleet.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  }
};

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
