import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createProcessTable, createTart, type Share } from '@tartan/tart';
import { recordedLog } from '../../identity/testing/recorded-log.ts';
import { createLogChanges, type LogChanges } from '../../logs/log-changes.ts';
import { createLogFiles, olderGeneration, type LogFiles } from '../../logs/log-files.ts';
import { parseRecord } from '../../logs/log-line.ts';
import { createRuns, type RunningRuns, type RunsOptions } from '../create-runs.ts';
import type { Run } from '../runs.ts';

/** An agent's runs, which can be stopped as an agent is that gets a signal. */
export interface LivingRuns {
  readonly runs: RunningRuns;
  readonly changes: LogChanges;
  readonly exits: string[];
  stop(): Promise<void>;
}

export interface RunBench {
  readonly folder: string;
  readonly fake: FakeTart;
  readonly files: LogFiles;
  readonly run: Run;
  readonly shares: readonly Share[];
  /** What the guest may write to. */
  readonly status: string;
  readonly said: string[];
  /** One more agent on the same files. */
  agent(options?: Partial<RunsOptions>): LivingRuns;
  /** The text of one stream of the log, both generations of it, with line ends where lines ended. */
  text(stream: 'stdout' | 'stderr'): string;
  remove(): Promise<void>;
}

const linesOf = (path: string): Buffer[] => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return [];
  }
  const lines: Buffer[] = [];
  for (let at = 0, end = bytes.indexOf(10); end !== -1; at = end + 1, end = bytes.indexOf(10, at))
    lines.push(bytes.subarray(at, end));
  return lines;
};

export const createRunBench = (): RunBench => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-runs-'));
  const fake = installFakeTart(folder);
  fake.addVm('vm');
  const files = createLogFiles(join(folder, 'logs'));
  const run: Run = { podUID: 'uid-1', container: 'runner', run: 0, vm: 'vm' };
  const status = join(folder, 'userdata', 'vm', 'status');
  mkdirSync(status, { recursive: true });
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const { log, lines: said } = recordedLog();
  const living = new Set<LivingRuns>();
  return {
    folder,
    fake,
    files,
    run,
    status,
    said,
    shares: [{ name: 'status', path: status, readOnly: false }],
    agent: (options = {}) => {
      const clock = options.clock ?? systemClock;
      // Its own patience with writers that died never ends here.
      const changes = createLogChanges(manualClock());
      const exits: string[] = [];
      const runs = createRuns({
        tart: createTart({ path: fake.path, environment }),
        processes: createProcessTable(process.env),
        clock,
        log,
        files,
        changes,
        statusFolder: (vm) => join(folder, 'userdata', vm, 'status'),
        onExit: (uid) => exits.push(uid),
        pollMs: 20,
        ...options,
      });
      const ended = new AbortController();
      const done = runs.run(ended.signal);
      const one: LivingRuns = {
        runs,
        changes,
        exits,
        stop: () => {
          living.delete(one);
          ended.abort();
          return done;
        },
      };
      living.add(one);
      return one;
    },
    text: (stream) => {
      const path = files.pathOf(run);
      return [...linesOf(olderGeneration(path)), ...linesOf(path)]
        .map(parseRecord)
        .flatMap((record) =>
          record?.stream === stream ? [record.text.toString('latin1') + (record.full ? '\n' : '')] : [],
        )
        .join('');
    },
    remove: async () => {
      for (const one of living) await one.stop();
      fake.unplug();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
