import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manualClock, systemClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createProcessTable, createTart, type Share } from '@tartan/tart';
import { createRecordingLogger } from '../../identity/testing/recording-logger.ts';
import { createLogFiles, type LogFiles, rotatedPath } from '../../logs/log-files.ts';
import { createLogNotifier, type LogNotifier } from '../../logs/log-notifier.ts';
import { parseRecord } from '../../logs/log-record.ts';
import { createVmRuns, type RunnableVmRuns, type VmRun, type VmRunsOptions } from '../vm-runs.ts';

/** The runs of an agent, which can be stopped as by a signal. */
export interface TestAgent {
  readonly runs: RunnableVmRuns;
  readonly changes: LogNotifier;
  readonly exits: string[];
  stop(): Promise<void>;
}

export interface RunHarness {
  readonly folder: string;
  readonly fake: FakeTart;
  readonly files: LogFiles;
  readonly run: VmRun;
  readonly shares: readonly Share[];
  /** The guest's writable share. */
  readonly status: string;
  /** Another agent on the same files. */
  agent(options?: Partial<VmRunsOptions>): TestAgent;
  /** The text of one stream from both log files, with newlines at the ends of lines. */
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

export const createRunHarness = (): RunHarness => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-runs-'));
  const fake = installFakeTart(folder);
  fake.addVm('vm');
  const files = createLogFiles(join(folder, 'logs'));
  const run: VmRun = { podUID: 'uid-1', container: 'runner', run: 0, vm: 'vm' };
  const status = join(folder, 'userdata', 'vm', 'status');
  mkdirSync(status, { recursive: true });
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const { log } = createRecordingLogger();
  const agents = new Set<TestAgent>();
  return {
    folder,
    fake,
    files,
    run,
    status,
    shares: [{ name: 'status', path: status, readOnly: false }],
    agent: (options = {}) => {
      const clock = options.clock ?? systemClock;
      // A manual clock: the notifier's maximum wait never elapses.
      const changes = createLogNotifier(manualClock());
      const exits: string[] = [];
      const runs = createVmRuns({
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
      const one: TestAgent = {
        runs,
        changes,
        exits,
        stop: () => {
          agents.delete(one);
          ended.abort();
          return done;
        },
      };
      agents.add(one);
      return one;
    },
    text: (stream) => {
      const path = files.pathOf(run);
      return [...linesOf(rotatedPath(path)), ...linesOf(path)]
        .map(parseRecord)
        .flatMap((record) =>
          record?.stream === stream ? [record.text.toString('latin1') + (record.full ? '\n' : '')] : [],
        )
        .join('');
    },
    remove: async () => {
      for (const one of agents) await one.stop();
      fake.powerOff();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};
