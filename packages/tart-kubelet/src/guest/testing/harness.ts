import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import {
  type Client,
  configMaps,
  createClient,
  createSubresources,
  inProcessTransport,
  type Live,
  namespaces,
  pods,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import type { Pod } from '../../pods/snapshot.ts';
import { examplePod } from '../../pods/testing/example.ts';
import { createGuests } from '../create-guests.ts';
import { GuestConfigError, type Guests, type PreparedGuest } from '../guests.ts';

type Spec = NonNullable<Pod['spec']>;

/** A Mac and an embedded Kubernetes in this process, on virtual time, with exactly the permissions of the Mac's Node. */
export interface GuestHarness {
  readonly clock: ManualClock;
  readonly kubernetes: Kubernetes;
  readonly admin: Client;
  readonly node: Client;
  readonly guests: Guests;
  readonly folder: string;
  readonly vm: string;
  /** Requests of the Node: `POST /api/v1/namespaces/runners/serviceaccounts/builder/token`, and so on. */
  readonly requests: string[];
  /** Throws in place of the server, or lets a request through. */
  intercept: (request: string) => void;
  configMap(name: string, data: Record<string, string>, binaryData?: Record<string, string>): Promise<void>;
  secret(name: string, stringData: Record<string, string>, type?: string): Promise<void>;
  /** Creates a Pod on this Node. */
  pod(change?: (spec: Spec, pod: Pod) => void): Promise<Live<Pod>>;
  /** Resolves with a GuestConfigError; rejects with any other error. */
  prepare(pod: Live<Pod>): Promise<PreparedGuest | GuestConfigError>;
  /** A file of the VM by its path in the guest. */
  read(path: string): Promise<string>;
  /** All shared files of the VM. */
  files(): Promise<string[]>;
  mode(path: string): Promise<number>;
}

const never = new AbortController().signal;

export const withGuestHarness = async (body: (harness: GuestHarness) => Promise<void>): Promise<void> => {
  const outer = await mkdtemp(join(tmpdir(), 'guests-'));
  // Deep enough that a path such as `../x` stays in the test's own folder.
  const folder = join(outer, 'var', 'lib', 'guests');
  await mkdir(folder, { recursive: true });
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const as = (commonName: string, organization: string): Transport =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [organization] } });
  const admin = createClient(as('admin', 'system:masters'), { clock });
  const own = as('system:node:mac-1', 'system:nodes');
  const transport: Transport = {
    ...own,
    send: async (request) => {
      const text = `${request.method} ${request.path.split('?')[0]}`;
      harness.requests.push(text);
      harness.intercept(text);
      return own.send(request);
    },
  };
  const node = createClient(transport, { clock });
  const vm = 'runners-runner-1-uid-1';
  const namespace = 'runners';
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await admin.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace, name: 'builder' },
  });

  const harness: GuestHarness = {
    clock,
    kubernetes,
    admin,
    node,
    folder,
    vm,
    requests: [],
    intercept: () => {},
    guests: createGuests({ folder, client: node, tokens: createSubresources(transport, { clock }), clock }),
    configMap: async (name, data, binaryData) => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data } as const;
      await admin.create(configMaps, { ...object, ...(binaryData && { binaryData }) });
    },
    secret: async (name, stringData, type = 'Opaque') => {
      const metadata = { namespace, name };
      await admin.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type, stringData });
    },
    pod: (change = () => {}) => {
      const { apiVersion, kind, metadata, spec } = examplePod();
      const { name, labels } = metadata;
      assert.ok(spec);
      const fresh: Pod = {
        apiVersion,
        kind,
        metadata: { name, namespace, ...(labels && { labels }) },
      };
      fresh.spec = { ...spec, serviceAccountName: 'builder' };
      change(fresh.spec, fresh);
      return admin.create(pods, fresh);
    },
    prepare: (pod) =>
      harness.guests.prepare(pod, vm, { hostIP: '10.0.0.1' }, never).catch((error: unknown) => {
        if (error instanceof GuestConfigError) return error;
        throw error;
      }),
    read: (path) => readFile(join(folder, vm, path), 'utf8'),
    files: async () => {
      const entries = await readdir(join(folder, vm), { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => relative(join(folder, vm), join(entry.parentPath, entry.name)))
        .filter((path) => path.includes('/'))
        .toSorted();
    },
    mode: async (path) => (await lstat(join(folder, vm, path))).mode & 0o777,
  };
  try {
    await body(harness);
  } finally {
    kubernetes.stop();
    await rm(outer, { recursive: true });
  }
};

/** Adds a projected volume that the container mounts. */
export const mount = (spec: Spec, name: string, ...sources: object[]): void => {
  spec.volumes = [...(spec.volumes ?? []), { name, projected: { sources } }];
  const [container] = spec.containers;
  assert.ok(container);
  container.volumeMounts = [...(container.volumeMounts ?? []), { name, mountPath: `/mnt/${name}` }];
};

export const token = (audience: string, more: object = {}) => ({
  serviceAccountToken: { path: 'token', expirationSeconds: 3600, ...(audience && { audience }), ...more },
});

/** Asserts that it is prepared, and returns the shares by name. */
export const sharesOf = (
  prepared: PreparedGuest | GuestConfigError,
): Record<string, { path: string; readOnly: boolean }> => {
  if (prepared instanceof GuestConfigError) throw prepared;
  return Object.fromEntries(prepared.shares.map(({ name, path, readOnly }) => [name, { path, readOnly }]));
};

export const problemOf = (prepared: PreparedGuest | GuestConfigError): string => {
  assert.ok(prepared instanceof GuestConfigError, JSON.stringify(prepared));
  return `${prepared.reason}: ${prepared.message}`;
};
