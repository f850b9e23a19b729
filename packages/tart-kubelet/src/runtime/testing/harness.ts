import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Live } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { collectOutput, createTart, type Tart } from '@tartan/tart';
import type { ContainerName, PodRuntime } from '../../api/pod-runtime.ts';
import { createLogFiles } from '../../logs/log-files.ts';
import { createLogNotifier, type LogNotifier } from '../../logs/log-notifier.ts';
import { createLogWriter, type LogWriter } from '../../logs/log-writer.ts';
import type { PodView } from '../../pods/pod-lister.ts';
import type { Pod } from '../../pods/snapshot.ts';
import { createPodRuntime } from '../create-pod-runtime.ts';

/** For tests: a Pod with a configurable view, whose VM belongs to the fake tart. Guests are at 127.0.0.1. */
export interface RuntimeHarness {
  readonly runtime: PodRuntime;
  readonly container: ContainerName;
  readonly fake: FakeTart;
  readonly tart: Tart;
  readonly folder: string;
  readonly changes: LogNotifier;
  /** The Pod as the runtime sees it; undefined when it is gone. */
  view: PodView | undefined;
  /** The log of the Pod's current run. */
  log(): Promise<LogWriter>;
  /** Ends the log of the current run. */
  finish(): Promise<void>;
  /** Ends the current run and starts the next one. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface RuntimeHarnessOptions {
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

export const openRuntimeHarness = async (options: RuntimeHarnessOptions = {}): Promise<RuntimeHarness> => {
  const { clock = systemClock, uid = 'uid-1' } = options;
  const container = options.name ?? { namespace: 'default', pod: 'runner-1', container: 'runner' };
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-runtime-')));
  const fake = installFakeTart(folder);
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: fake.home };
  const tart = createTart({ path: fake.path, environment, clock });
  fake.addVm(vm);
  fake.controls.guest(vm, { address: '127.0.0.1' });
  const { pid, startedAt } = await tart.run(vm, { logFile: join(folder, 'run.log') });
  // The guest agent is reachable shortly after the process started.
  while ((await collectOutput(tart.exec(vm, ['true']), 100)).result.kind === 'failed');

  const files = createLogFiles(join(folder, 'logs'));
  const notifier = createLogNotifier(clock);
  const writers = new Map<number, LogWriter>();
  const finished = new Set<number>();
  const running = { pid, since: startedAt, address: '127.0.0.1' };
  const harness: RuntimeHarness = {
    runtime: createPodRuntime({
      lister: {
        list: () => (harness.view === undefined ? [] : [harness.view.pod]),
        get: ({ namespace, pod }) =>
          namespace === container.namespace && pod === container.pod ? harness.view : undefined,
      },
      tart,
      files,
      changes: notifier,
      isFinished: ({ run }) => finished.has(run),
      clock,
    }),
    container,
    fake,
    tart,
    folder,
    changes: notifier,
    view: { pod: podOf(container, uid), vm, run: 0, running },
    log: async () => {
      const run = harness.view?.run ?? 0;
      const path = await files.prepare({ podUID: uid, container: container.container, run });
      const writer = writers.get(run) ?? createLogWriter({ path, clock, notifier });
      writers.set(run, writer);
      return writer;
    },
    finish: async () => {
      const run = harness.view?.run ?? 0;
      finished.add(run);
      await writers.get(run)?.close();
    },
    restart: async () => {
      await harness.finish();
      if (harness.view) harness.view = { ...harness.view, run: harness.view.run + 1 };
    },
    close: async () => {
      for (const writer of writers.values()) await writer.close();
      fake.powerOff();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  return harness;
};
