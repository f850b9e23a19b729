import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  createClient,
  ignoreNotFound,
  inProcessTransport,
  namespaces,
  nodes,
  pods,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createKubernetes, serve } from '@tartan/sim-kubernetes';
import { type FakeTart, installFakeTart } from '@tartan/sim-mac';
import { vmNameOf } from '../../packages/tart-kubelet/src/journal/vm-identity.ts';
import type { Pod } from '../../packages/tart-kubelet/src/pods/snapshot.ts';
import { examplePod } from '../../packages/tart-kubelet/src/pods/testing/example.ts';
import { uidOf } from './agent/effect-names.ts';
import { type Agents, createAgents } from './agents.ts';
import { createGuestWork, type GuestWork } from './guests.ts';
import { createMonitor, type Monitor } from './monitor.ts';

/** About two seconds of polling. */
const checksPerAdvance = 60;
const maxAdvances = 8;

export interface HarnessOptions {
  readonly program: string;
  readonly collects?: boolean;
}

/** A Pod of the scenario, and its virtual machine. */
export interface TestPod {
  readonly name: string;
  readonly uid: string;
  readonly vm: string;
}

/** One Mac with a fake tart, agents that may be killed, and a server that survives them. */
export interface Harness {
  readonly folder: string;
  readonly admin: Client;
  readonly tart: FakeTart;
  readonly agents: Agents;
  readonly guests: GuestWork;
  readonly monitor: Monitor;
  readonly problems: string[];
  pod(name: string, change?: (spec: NonNullable<Pod['spec']>) => void): Promise<TestPod>;
  /** As the server has it. */
  seen(pod: TestPod): Pod | undefined;
  delete(pod: TestPod, gracePeriodSeconds?: number): Promise<void>;
  /** Advances the clock repeatedly until the condition holds: a restarted agent starts its waits anew. */
  advanceUntil(what: string, milliseconds: number, holds: () => boolean): Promise<true>;
  /** Virtual machines on the disk, without golden bases. */
  vms(): readonly string[];
  /** The content of one of the agent's folders. */
  files(folder: 'guests' | 'images' | 'journal' | 'logs'): readonly string[];
  stop(): Promise<void>;
}

export const image = 'ghcr.io/example/macos:26';
export const digest = `sha256:${'a'.repeat(64)}`;
export const namespace = 'runners';
const nodeName = 'mac-1';
const daySeconds = 86_400;

const namesIn = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : []);

export const createHarness = async ({ program, collects = false }: HarnessOptions): Promise<Harness> => {
  const folder = await mkdtemp(join(tmpdir(), 'crash-'));
  const tart = installFakeTart(folder);
  const guests = createGuestWork(folder);
  tart.controls.guest('_', { program: guests.program });
  tart.controls.image(image, { digest, percents: [0, 100] });
  let objects = 0;
  const kubernetes = await createKubernetes({
    controllers: false,
    uuid: () => uidOf(++objects),
  });
  const { handle, identity } = kubernetes;
  const { certificate: cert, key } = await identity.issue({
    commonName: `system:node:${nodeName}`,
    organizations: ['system:nodes'],
    usages: ['client auth', 'digital signature'],
    seconds: daySeconds,
  });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const admin = createClient(inProcessTransport(handle, { user }), { clock: systemClock });
  await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  const account = { name: 'default', namespace };
  await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const served = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
  const problems: string[] = [];
  const agents = createAgents({
    program,
    folder,
    nodeName,
    server: { url: served.url, ca: identity.caCertificate, cert, key },
    tart: { path: tart.path, home: tart.home },
    collects,
    openVms: ['bake'],
    onProblem: (what) => problems.push(what),
  });
  const podResource = kubernetes.api.find('', 'pods');
  if (podResource === undefined) throw new Error('This server has no Pods');

  return {
    folder,
    admin,
    tart,
    agents,
    guests,
    monitor: createMonitor(kubernetes, tart),
    problems,
    pod: async (name, change = () => {}) => {
      const { apiVersion, kind, spec } = examplePod();
      const own = { ...structuredClone(spec), containers: [{ name: 'runner', image }] };
      change(own);
      const { metadata } = await admin.create(pods, { apiVersion, kind, metadata: { name, namespace }, spec: own });
      const { uid } = metadata;
      return { name, uid, vm: vmNameOf({ name, namespace, uid }) ?? '' };
    },
    seen: ({ name, uid }) => {
      const found = kubernetes.api.get(podResource, namespace, name) as Pod | undefined;
      return found?.metadata?.uid === uid ? found : undefined;
    },
    delete: async ({ name, uid }, gracePeriodSeconds) => {
      const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      // Already gone: its watch event may be late.
      await ignoreNotFound(admin.delete(pods, { namespace, name }, { preconditions: { uid }, ...grace }));
    },
    advanceUntil: (what, milliseconds, holds) => {
      let checks = 0;
      return eventually(what, () => {
        if (holds()) return true;
        if (checks % checksPerAdvance === 0 && checks < maxAdvances * checksPerAdvance)
          agents.advanceClock(milliseconds);
        checks += 1;
        return false;
      });
    },
    vms: () => namesIn(join(tart.home, 'vms')).filter((name) => !name.startsWith('tuist-golden-')),
    files: (which) => namesIn(join(folder, which)),
    stop: async () => {
      await agents.stop();
      kubernetes.stop();
      await served.close();
      tart.powerOff();
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
};
