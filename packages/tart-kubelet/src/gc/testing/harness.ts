import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createTart } from '@tartan/tart';
import { createHolds } from '../../images/holds.ts';
import { createLocalImages } from '../../images/local-images.ts';
import { type Collector, type CollectorOptions, createCollector } from '../collector.ts';
import type { PodOnNode } from '../observe.ts';
import type { OpenFiles } from '../open-files.ts';
import { ownProcesses } from './own-processes.ts';

/** Reports every file as closed. */
export const allClosed: OpenFiles = { check: async (names) => new Map(names.map((name) => [name, 'closed'])) };

/** A collector with a fake tart. Time stands still, and no file is open unless an lsof is given. */
export const createHarness = () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-collect-')));
  const fake: FakeTart = installFakeTart(folder);
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const tart = createTart({ path: fake.path, environment });
  const clock = manualClock();
  const holds = createHolds();
  const lines: string[] = [];
  const collected: string[] = [];
  /** VMs and images that journal and markers declare ours. */
  const ours = new Set<string>();
  const state = { pods: [] as readonly PodOnNode[] | Error, disk: { freeBytes: 50, totalBytes: 100 } };
  const options: CollectorOptions = {
    tart,
    pods: async () => {
      if (state.pods instanceof Error) throw state.pods;
      return state.pods;
    },
    ownership: {
      ownerOf: async (name) => (ours.has(name) ? 'ours' : 'not ours'),
      forget: async (name) => void ours.delete(name),
    },
    processes: ownProcesses(folder, environment),
    tartPaths: [fake.path],
    openFiles: allClosed,
    local: createLocalImages(fake.home),
    holds,
    disk: async () => state.disk,
    clock,
    log: createLogger({ level: 'info', write: (text) => lines.push(text), clock }),
    onCollected: (why) => collected.push(why),
  };
  return {
    folder,
    fake,
    tart,
    clock,
    holds,
    lines,
    collected,
    ours,
    state,
    environment,
    collector: (more: Partial<CollectorOptions> = {}): Collector => createCollector({ ...options, ...more }),
    names: async (): Promise<readonly string[]> => (await tart.list()).map(({ name }) => name),
    remove: () => {
      fake.powerOff();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

export type Harness = ReturnType<typeof createHarness>;
