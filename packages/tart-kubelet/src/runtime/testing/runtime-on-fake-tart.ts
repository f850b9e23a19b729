import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Live } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { collectExec, createTart, type Tart } from '@tartan/tart';
import type { ContainerName, PodRuntime } from '../../api/pod-runtime.ts';
import { createLogChanges, type LogChanges } from '../../logs/log-changes.ts';
import { createLogFiles } from '../../logs/log-files.ts';
import { createLogWriter, type LogWriter } from '../../logs/log-writer.ts';
import type { PodView } from '../../pods/pod-views.ts';
import type { Pod } from '../../pods/snapshot.ts';
import { createPodRuntime } from '../create-pod-runtime.ts';

/** For tests: a Pod of which everything is as told, whose virtual machine is one of the fake tart's. Guests are at 127.0.0.1. */
export interface RuntimeStage {
  readonly runtime: PodRuntime;
  readonly container: ContainerName;
  readonly fake: FakeTart;
  readonly tart: Tart;
  readonly folder: string;
  readonly changes: LogChanges;
  /** What those see who reach into the Pod; nothing when it is gone. */
  view: PodView | undefined;
  /** Of the Pod's present run. */
  log(): Promise<LogWriter>;
  /** Nothing more comes from its present run. */
  finish(): Promise<void>;
  /** The present run is over, and the next one on. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface RuntimeStageOptions {
  readonly name?: ContainerName;
  readonly uid?: string;
  readonly clock?: Clock;
}

const vm = 'vm-1';

const podOf = ({ namespace, pod, container }: ContainerName, uid: string): Live<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: pod, namespace, uid, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [{ name: container, image: 'ghcr.io/example/macos:26' }] },
  status: {
    phase: 'Running',
    containerStatuses: [
      {
        name: container,
        image: 'x',
        imageID: 'x',
        ready: true,
        restartCount: 0,
        state: { waiting: { reason: 'Cloning' } },
      },
    ],
  },
});

export const openRuntimeStage = async (options: RuntimeStageOptions = {}): Promise<RuntimeStage> => {
  const { clock = systemClock, uid = 'uid-1' } = options;
  const container = options.name ?? { namespace: 'default', pod: 'runner-1', container: 'runner' };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-runtime-')));
  const fake = installFakeTart(folder);
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const tart = createTart({ path: fake.path, environment, clock });
  fake.addVm(vm);
  fake.controls.guest(vm, { address: '127.0.0.1' });
  const { pid, startedAt } = await tart.run(vm, { logFile: join(folder, 'run.log') });
  // Its agent is there a moment after its process.
  while ((await collectExec(tart.exec(vm, ['true']), 100)).end.kind === 'failed');

  const files = createLogFiles(join(folder, 'logs'));
  const changes = createLogChanges(clock);
  const writers = new Map<number, LogWriter>();
  const finished = new Set<number>();
  const running = { pid, since: startedAt, address: '127.0.0.1' };
  const stage: RuntimeStage = {
    runtime: createPodRuntime({
      views: {
        all: () => (stage.view === undefined ? [] : [stage.view.pod]),
        find: ({ namespace, pod }) =>
          namespace === container.namespace && pod === container.pod ? stage.view : undefined,
      },
      tart,
      files,
      changes,
      isFinished: ({ run }) => finished.has(run),
      clock,
    }),
    container,
    fake,
    tart,
    folder,
    changes,
    view: { pod: podOf(container, uid), vm, run: 0, running },
    log: async () => {
      const run = stage.view?.run ?? 0;
      const path = await files.prepare({ podUID: uid, container: container.container, run });
      const writer = writers.get(run) ?? createLogWriter({ path, clock, changes });
      writers.set(run, writer);
      return writer;
    },
    finish: async () => {
      const run = stage.view?.run ?? 0;
      finished.add(run);
      await writers.get(run)?.close();
    },
    restart: async () => {
      await stage.finish();
      if (stage.view) stage.view = { ...stage.view, run: stage.view.run + 1 };
    },
    close: async () => {
      for (const writer of writers.values()) await writer.close();
      fake.unplug();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return stage;
};
