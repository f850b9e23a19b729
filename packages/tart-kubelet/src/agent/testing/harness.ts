import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  createClient,
  createLogger,
  createSubresources,
  type EventInput,
  inProcessTransport,
  isKubeError,
  KubeError,
  type Live,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, systemClock } from '@tartan/kube/clock';
import { adjustableClock, fasterClock, testDeadline } from '@tartan/kube/testing';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { createTart, type Tart } from '@tartan/tart';
import { ownProcesses } from '../../gc/testing/own-processes.ts';
import { createJournal, type Journal } from '../../journal/journal.ts';
import type { Pod } from '../../pods/snapshot.ts';
import { examplePod } from '../../pods/testing/example.ts';
import { createStartRecorder, type StartRecorder } from '../../vm-start/start-recorder.ts';
import { createVmSubsystem, type VmSubsystemOptions } from '../vm-subsystem.ts';

type Spec = NonNullable<Pod['spec']>;

export interface HarnessOptions {
  /** For waits that may be as short as they like: nothing that must come first may be late. */
  readonly speed?: number;
  readonly vmSlots?: number;
  readonly disableVMGC?: boolean;
}

/** A Mac with a fake tart, and an embedded Kubernetes in this process that enforces the permissions of the Mac's Node. */
export interface Harness {
  readonly kubernetes: Kubernetes;
  readonly admin: Client;
  readonly tart: FakeTart;
  readonly driver: Tart;
  readonly journal: Journal;
  readonly folder: string;
  readonly clock: ManualClock;
  readonly events: (EventInput & { readonly podName: string })[];
  readonly logs: string[];
  /** Of the running agent. */
  readonly startRecorder: StartRecorder;
  /** Changes with each boot of the Mac. */
  bootID: string;
  /** Replaces the console session. */
  session: () => Promise<void>;
  /** Throws an error in place of the server's response, or lets the agent's request through. */
  intercept: (request: string) => void | Promise<void>;
  /** Breaks all open connections of the agent to the server, mainly watches. */
  dropConnections(): void;
  /** Starts an agent; the previous one must have ended. */
  startAgent(change?: (options: VmSubsystemOptions) => VmSubsystemOptions): ReturnType<typeof createVmSubsystem>;
  /** Stops the agent gracefully; its VMs keep running. */
  stopAgent(): Promise<void>;
  /** Creates a Pod on this Mac. */
  pod(change?: (spec: Spec, pod: Pod) => void): Promise<Live<Pod>>;
  getPod(pod: Live<Pod>): Promise<Live<Pod> | undefined>;
  waitForPod(pod: Live<Pod>, what: string, holds: (pod: Live<Pod> | undefined) => boolean): Promise<Live<Pod>>;
  deletePod(pod: Live<Pod>, gracePeriodSeconds?: number): Promise<void>;
  /** VMs with a running `tart run`. */
  runningVms(): Promise<readonly string[]>;
}

export const image = 'ghcr.io/example/macos:26';
export const digest = `sha256:${'a'.repeat(64)}`;
const nodeName = 'mac-1';
const namespace = 'runners';

async function* untilDisconnected(
  body: AsyncIterable<Uint8Array>,
  connection: AbortController,
): AsyncIterable<Uint8Array> {
  const broken = new Promise<never>((_resolve, reject) => {
    connection.signal.addEventListener('abort', () => reject(new KubeError('unreachable', 'the connection broke')));
  });
  broken.catch(() => {});
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await Promise.race([chunks.next(), broken]);
      if (done === true) return;
      yield value;
    }
  } finally {
    void chunks.return?.();
  }
}

export const withMac = async (
  scenario: (harness: Harness) => Promise<void>,
  options: HarnessOptions = {},
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'machines-'));
  const faster = options.speed === undefined ? undefined : fasterClock(options.speed);
  const clock = faster ?? adjustableClock();
  const tart = installFakeTart(folder);
  const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: tart.home };
  const processes = ownProcesses(folder, environment);
  const driver = createTart({ path: tart.path, environment, processes });
  const kubernetes = await createKubernetes({ controllers: false });
  const as = (commonName: string, organization: string): Transport =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [organization] } });
  const admin = createClient(as('admin', 'system:masters'), { clock: systemClock });
  const own = as(`system:node:${nodeName}`, 'system:nodes');
  let connection = new AbortController();
  const guarded: Transport = {
    ...own,
    send: async (request) => {
      await harness.intercept(`${request.method} ${request.path}`);
      const answer = await own.send(request);
      return { ...answer, body: untilDisconnected(answer.body, connection) };
    },
  };
  const client = createClient(guarded, { clock: systemClock });
  tart.controls.image(image, { digest });
  await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await admin.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace },
  });
  const logs: string[] = [];
  const log = createLogger({ level: 'debug', write: (line) => logs.push(line), clock: systemClock });
  const paths = { guests: 'guests', images: 'images', journal: 'journal', logs: 'logs' };
  const freshStarts = (): StartRecorder =>
    createStartRecorder({
      file: join(folder, 'vm-starts.json'),
      bootID: async () => harness.bootID,
      vmSlots: options.vmSlots ?? 2,
      clock,
      log,
    });
  let startRecorder = freshStarts();
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const harness: Harness = {
    kubernetes,
    admin,
    tart,
    driver,
    clock,
    folder,
    logs,
    events: [],
    journal: createJournal(join(folder, paths.journal)),
    get startRecorder() {
      return startRecorder;
    },
    bootID: 'boot-1',
    session: async () => {},
    intercept: () => {},
    dropConnections: () => {
      connection.abort();
      connection = new AbortController();
    },
    startAgent: (change = (same) => same) => {
      ending = new AbortController();
      startRecorder = freshStarts();
      const machines = createVmSubsystem(
        change({
          nodeName,
          agentVersion: 'v0.0.0-test',
          vmSlots: options.vmSlots ?? 2,
          maxPods: 4,
          disableVMGC: options.disableVMGC ?? true,
          client,
          tokens: createSubresources(guarded, { clock: systemClock }),
          events: {
            event: ({ metadata }, event) => void harness.events.push({ ...event, podName: metadata?.name ?? '' }),
          },
          paths: {
            guests: join(folder, paths.guests),
            images: join(folder, paths.images),
            journal: join(folder, paths.journal),
            logs: join(folder, paths.logs),
          },
          tart: driver,
          tartHome: tart.home,
          tartPaths: [tart.path],
          processes,
          dhcpLeases: join(tart.home, '.fake', 'leases'),
          session: { exists: async () => true, ensure: () => harness.session() },
          startRecorder,
          hostIP: () => '10.0.0.1',
          disk: async () => ({ freeBytes: 500e9, totalBytes: 1000e9 }),
          clock,
          random: Math.random,
          log,
        }),
      );
      running = machines.run(ending.signal);
      return machines;
    },
    stopAgent: async () => {
      ending.abort();
      await running;
    },
    pod: (change = () => {}) => {
      const { apiVersion, kind, spec } = examplePod();
      const fresh: Pod & { spec: Spec } = {
        apiVersion,
        kind,
        metadata: { name: `runner-${randomUUID().slice(0, 8)}`, namespace },
        spec: { ...structuredClone(spec), containers: [{ name: 'runner', image }] },
      };
      change(fresh.spec, fresh);
      return admin.create(pods, fresh);
    },
    getPod: async ({ metadata: { name, uid } }) => {
      try {
        const found = await admin.get(pods, { namespace, name });
        return found.metadata.uid === uid ? found : undefined;
      } catch (error) {
        if (isKubeError(error, 'notFound')) return undefined;
        throw error;
      }
    },
    waitForPod: async (pod, what, holds) => {
      const signal = testDeadline();
      const { name, uid } = pod.metadata;
      let last: Live<Pod> | undefined;
      try {
        for (;;) {
          const { items, resourceVersion } = await admin.list(pods, { namespace, signal });
          last = items.find((item) => item.metadata.uid === uid);
          if (holds(last)) return last ?? pod;
          const watch = { namespace, fieldSelector: `metadata.name=${name}`, resourceVersion, signal };
          for await (const event of admin.watch(pods, watch)) {
            if (event.type === 'BOOKMARK' || event.object.metadata.uid !== uid) continue;
            last = event.type === 'DELETED' ? undefined : event.object;
            if (holds(last)) return last ?? pod;
          }
        }
      } catch (error) {
        const status = JSON.stringify(last?.status ?? 'there is none', undefined, 1);
        throw new Error(`waited in vain until ${name} ${what}: ${status}\n${logs.slice(-20).join('')}`, {
          cause: error,
        });
      }
    },
    deletePod: async ({ metadata: { name, uid } }, gracePeriodSeconds) => {
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      await admin.delete(pods, { namespace, name }, { preconditions: { uid }, ...grace });
    },
    runningVms: async () => {
      const names = (await processes.list())
        .map(({ command }) => /tart run (\S+)/.exec(command))
        .flatMap((match) => match?.[1] ?? []);
      return [...new Set(names)];
    },
  };
  try {
    await scenario(harness);
  } finally {
    await harness.stopAgent();
    faster?.stop();
    kubernetes.stop();
    tart.powerOff();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
};

export const isRunning = (pod: Live<Pod> | undefined): boolean => pod?.status?.phase === 'Running';
export const isGone = (pod: Live<Pod> | undefined): boolean => pod === undefined;
export const hasEnded = (pod: Live<Pod> | undefined): boolean =>
  pod?.status?.phase === 'Succeeded' || pod?.status?.phase === 'Failed';
