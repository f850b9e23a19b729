import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  annotations,
  macFleet,
  machine as machineKind,
  type MachineSpec,
  type MachineStatus,
  macHost,
  type MacHost,
  secretKeys,
} from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  certificateSigningRequests,
  createClient,
  createEventRecorder,
  createInformer,
  createLogger,
  createRedactor,
  customResourceDefinitions,
  events,
  getCondition,
  ignoreNotFound,
  type Informer,
  type InformerOptions,
  inProcessTransport,
  isKubeError,
  type KubeObject,
  leases,
  type Live,
  namespaces,
  nodes,
  NotLeadingError,
  type ObjectMeta,
  patchStatus,
  pods,
  type Resource,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { manualClock, microTimestamp, timestamp } from '@tartan/kube/clock';
import { indexesOf } from '../../indexes.ts';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { coreClusters } from '../../core/kinds.ts';
import { clusterMember } from '../../core/testing/cluster-member.ts';
import { withoutSecretValues } from '../../host-work/secrets.ts';
import { makeCSR, subjectOf } from '../../identity/testing/make-csr.ts';
import { createMachineController } from '../controller.ts';
import { createMachineMemory, type MachineMemory } from '../memory.ts';
import type { MachineControllerOptions } from '../options.ts';
import { fakeBuilderRunners, fakeFleetKeys, fakeHostPool, fakeHostWork, hostSettingsWith } from './fakes.ts';

type Send = Transport['send'];

export const namespace = 'fleet';
const secretsNamespace = 'tuist';
export const clusters = coreClusters('v1beta2');
const machineName = { namespace, name: 'mac-1' };

/** A machine, Macs and Nodes on an embedded Kubernetes, on virtual time. There is no SSH server, and Macs are renamed only by tests. */
export const createHarness = async (t: TestContext, changes: Partial<MachineControllerOptions['options']> = {}) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  let between: (send: Send) => Send = (send) => send;
  let staleMachine: Awaited<ReturnType<typeof get>> | undefined;
  let underWay = 0;
  let meanwhile = false;
  const writes: string[] = [];
  const passes: string[] = [];
  const lookups: string[] = [];
  const watched: Transport = {
    ...transport,
    send: async (request) => {
      const path = request.path.split('?')[0] ?? '';
      if (request.method !== 'GET' && !path.endsWith('/events')) writes.push(`${request.method} ${path}`);
      underWay += 1;
      try {
        return await between(transport.send)(request);
      } finally {
        underWay -= 1;
      }
    },
  };
  /** Waits until only timers are left. */
  const settle = async (): Promise<void> => {
    if (meanwhile) return;
    for (let quiet = 0; quiet < 40; quiet += 1) {
      await setImmediate();
      if (underWay > 0) quiet = 0;
    }
  };
  const client = createClient(transport, { clock });
  const controllerClient = createClient(watched, { clock });
  for (const name of [namespace, secretsNamespace, 'kube-system', 'kube-node-lease'])
    await client
      .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      .catch((error: unknown) => {
        if (!isKubeError(error, 'alreadyExists')) throw error;
      });
  await client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace },
  });
  for (const definition of [...definitions, ...coreDefinitions()])
    await client.create(customResourceDefinitions, definition);

  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), clock, level: 'debug' });
  const work = fakeHostWork();
  const pool = fakeHostPool();
  const keys = fakeFleetKeys();
  const runners = fakeBuilderRunners();
  /** Whether this process leads; a test may change it. */
  const lead = { leads: true };
  const gate = {
    pass: () => {
      if (!lead.leads) throw new NotLeadingError('machine', 'a test says so');
      return { remainingMs: Infinity };
    },
  };
  /** The desired state of Macs; a test may change it. */
  const settings = { ...hostSettingsWith('agent-1') };
  const options = {
    machineWorkers: 2,
    releaseID: undefined,
    secretsNamespace,
    machineNamespaces: [namespace, secretsNamespace, 'kube-system'],
    defaultPoolPrefix: 'tuist-pool-',
    allowedPoolPrefixes: ['tuist-pool-'],
    bootstrap: { rebootAfter: 3, giveUpAfter: 5 },
    update: { giveUpAfter: 2, retryAfterMs: 30 * 60_000 },
    ...changes,
  };

  /** Of the last process. */
  let memory: MachineMemory | undefined;
  let macHosts: MachineControllerOptions['macHosts'] | undefined;
  const startProcess = async () => {
    const stopping = new AbortController();
    const running: Promise<void>[] = [];
    const follow = async <T extends KubeObject>(
      resource: Resource<T>,
      more: Partial<Pick<InformerOptions<T>, 'namespace' | 'transform'>> = {},
    ): Promise<Informer<T>> => {
      const cache = createInformer({
        client: controllerClient,
        resource,
        indexes: indexesOf(resource),
        clock,
        random: () => 0.5,
        log,
        ...more,
      });
      running.push(cache.run(stopping.signal));
      await cache.synced;
      return cache;
    };
    const machines = await follow(machineKind.resource);
    const parts: MachineControllerOptions = {
      client: controllerClient,
      machines: {
        ...machines,
        get: (key) => staleMachine ?? machines.get(key),
        byIndex: (index, value) => {
          lookups.push(`${index} ${value}`);
          return machines.byIndex(index, value);
        },
      },
      macHosts: (macHosts = await follow(macHost.resource)),
      macFleets: await follow(macFleet.resource),
      nodes: await follow(nodes),
      clusters: await follow(clusters),
      coreClusters: clusters,
      certificateRequests: await follow(certificateSigningRequests),
      machineSecrets: await follow(secrets, { namespace: secretsNamespace, transform: withoutSecretValues }),
      pool: pool.pool,
      fleetKeys: keys.keys,
      hostWork: work,
      builderRunners: runners,
      gate,
      settings,
      options,
      address: async () => ({ server: 'https://10.0.0.1:6443' }),
      randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(Math.random() * 252)),
      redactor: createRedactor(),
      events: createEventRecorder({ client: controllerClient, clock, log, component: 'machine', instance: 'test' }),
      clock,
      log,
      metrics: {
        controller: () => ({ started: () => {}, began: () => {}, ended: () => {} }),
        queue: () => ({
          added: () => {},
          taken: (key) => void passes.push(key),
          finished: () => {},
          delayed: () => {},
          stopped: () => {},
        }),
      },
    };
    memory = createMachineMemory(parts);
    const controller = createMachineController(parts, memory);
    running.push(controller.run(stopping.signal));
    await settle();
    return async () => {
      stopping.abort();
      await settle();
      await Promise.all(running);
    };
  };
  let stop: () => Promise<void> = async () => {};
  t.after(() => stop());

  const get = () => client.get(machineKind.resource, machineName);
  const statusOf = async (): Promise<MachineStatus> => (await get()).status ?? {};
  const host = (name = 'server-1') => client.get(macHost.resource, { name });
  const setHostStatus = async (next: NonNullable<MacHost['status']>, name = 'server-1'): Promise<Live<MacHost>> => {
    const live = await host(name);
    return patchStatus(client, macHost.resource, live, { ...live.status, ...next });
  };
  const harness = {
    client,
    clock,
    lead,
    work,
    pool,
    keys,
    runners,
    settings,
    writes,
    /** The key of each pass. */
    passes,
    /** Index and value of each look into the cache of machines. */
    lookups,
    lines,
    macHosts: () => macHosts ?? assert.fail('no process was started'),
    memory: () => memory ?? assert.fail('no process was started'),
    settle,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
    /** For changes during a request: `settle` cannot wait for that request. */
    meanwhile: async (happen: () => Promise<unknown>) => {
      meanwhile = true;
      await happen();
      meanwhile = false;
    },
    /** From now on the cache has the machine as it is now. */
    freezeMachineCache: async () => {
      staleMachine = await get();
    },
    start: async () => {
      stop = await startProcess();
    },
    /** The process dies; another one starts without its memory. */
    restart: async () => {
      await stop();
      stop = await startProcess();
    },
    /** In small steps, so that timers fire at their time. */
    pass: async (minutes: number) => {
      await settle();
      for (let passed = 0; passed < minutes * 60; passed += 15) {
        clock.advance(15_000);
        await settle();
      }
    },

    addMachine: async (spec: Partial<MachineSpec> = {}, metadata: Partial<ObjectMeta> = {}) => {
      const wanted = { fleetName: 'runners', ...spec };
      const name = { ...machineName, ...(metadata.name !== undefined && { name: metadata.name }) };
      const member = metadata.labels === undefined ? await clusterMember(client, name) : {};
      const object = machineKind.make({ metadata: { ...machineName, ...member, ...metadata }, spec: wanted });
      const made = await client.create(machineKind.resource, object);
      await settle();
      return made;
    },
    get,
    getIfExists: () => ignoreNotFound(get()),
    status: statusOf,
    /** Status, reason and message of a condition. */
    condition: async (type: string) => {
      const condition = getCondition((await statusOf()).conditions, type);
      return condition && { status: condition.status, reason: condition.reason, message: condition.message };
    },
    reason: async (type: string) => getCondition((await statusOf()).conditions, type)?.reason,
    setStatus: async (memory: MachineStatus) => {
      const live = await get();
      await patchStatus(client, machineKind.resource, live, { ...live.status, ...memory });
    },
    patchMachine: async (body: object) => {
      await client.patch(machineKind.resource, machineName, { type: 'merge', body });
      await settle();
    },
    deleteMachine: async () => {
      await client.delete(machineKind.resource, machineName);
      await settle();
    },

    /** A host in the pool. */
    addHost: async (name = 'server-1', password: string | undefined = 'hunter2') => {
      pool.set(name, password);
      const made = macHost.make({ metadata: { name }, spec: { zone: 'fr-par-1' } });
      await client.create(macHost.resource, made);
      await setHostStatus(
        {
          state: 'pool',
          since: timestamp(clock.now()),
          name: `tuist-pool-${name}`,
          type: 'M2-L',
          osFamily: 'Tahoe',
          osImage: 'macos-tahoe-26.3',
          serverStatus: 'ready',
          ip: '10.0.0.1',
          installs: 1,
        },
        name,
      );
      await settle();
    },
    host,
    hostIfExists: (name = 'server-1') => ignoreNotFound(host(name)),
    setHostStatus: async (next: NonNullable<MacHost['status']>, name?: string) => {
      await setHostStatus(next, name);
      await settle();
    },
    patchHost: async (spec: object, name = 'server-1') => {
      await client.patch(macHost.resource, { name }, { type: 'merge', body: { spec } });
      await settle();
    },
    /** As the MacHost controller does for a new holder. */
    rename: async (name = 'server-1') => {
      const { consumerRef } = (await host(name)).spec;
      const at = timestamp(clock.now());
      const claim = consumerRef && { claim: { uid: consumerRef.uid, namedAt: at, settledAt: at } };
      await setHostStatus({ state: 'held', name: consumerRef?.name ?? '', ...claim }, name);
      await settle();
    },
    markGone: async (name = 'server-1') => {
      await setHostStatus({ gone: true }, name);
      await settle();
    },
    /** The wipe of a release has begun. */
    beginWipe: async (name = 'server-1') => {
      const at = timestamp(clock.now());
      await setHostStatus({ state: 'releasing', wipe: { requestedAt: at, reinstallingAt: at } }, name);
      await settle();
    },

    addNode: async (more: { providerID?: string; summary?: string; ready?: 'True' | 'False' | 'Unknown' } = {}) => {
      const providerID = more.providerID ?? (await get()).spec.providerID;
      const summary = more.summary ?? (await statusOf()).hostConfigHash;
      const marks = summary === undefined ? {} : { [annotations.hostConfigHash]: summary };
      await client.create(nodes, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: machineName.name, annotations: marks },
        spec: { ...(providerID && { providerID }) },
      });
      await harness.setNodeReady(more.ready ?? 'True');
    },
    setNodeReady: async (status: 'True' | 'False' | 'Unknown') => {
      const at = timestamp(clock.now());
      const ready = { type: 'Ready', status, reason: 'X', message: `ready is ${status}`, lastTransitionTime: at };
      const body = {
        status: { conditions: [ready], addresses: [{ type: 'InternalIP', address: '100.64.0.1' }] },
      };
      await client.patch(nodes, { name: machineName.name }, { type: 'merge', body }, { subresource: 'status' });
      await settle();
    },
    patchNode: async (body: object) => {
      await client.patch(nodes, { name: machineName.name }, { type: 'merge', body });
      await settle();
    },
    node: () => ignoreNotFound(client.get(nodes, { name: machineName.name })),
    removeNode: async () => {
      await client.delete(nodes, { name: machineName.name });
      await settle();
    },
    addPod: async (name = 'vm') => {
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace },
        spec: { containers: [{ name: 'vm', image: 'macos' }], nodeName: machineName.name },
      });
      await settle();
    },
    removePod: async (name = 'vm') => {
      await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
      await settle();
    },
    renewLease: async () => {
      const name = { namespace: 'kube-node-lease', name: machineName.name };
      const spec = { renewTime: microTimestamp(clock.now()) };
      const body = { spec };
      const known = await ignoreNotFound(client.patch(leases, name, { type: 'merge', body }));
      if (known === undefined)
        await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: name, spec });
      await settle();
    },

    /** Issues the certificate that a Mac gets for its token. Returns its expiry. */
    issueCertificate: async (tokenID: string): Promise<string> => {
      const asMac = inProcessTransport(kubernetes.handle, {
        user: { commonName: `system:bootstrap:${tokenID}`, organizations: ['system:masters'] },
      });
      const request = makeCSR({ subject: subjectOf(machineName.name) });
      const { metadata } = await createClient(asMac, { clock }).create(certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: `csr-${tokenID}` },
        spec: {
          request,
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: ['client auth', 'digital signature'],
        },
      });
      const at = timestamp(clock.now());
      const approved = { type: 'Approved', status: 'True', reason: 'X', message: '', lastUpdateTime: at };
      const patch = (subresource: string, status: object) =>
        client.patch(certificateSigningRequests, metadata, { type: 'merge', body: { status } }, { subresource });
      await patch('approval', { conditions: [approved] });
      const { certificate } = await kubernetes.identity.issue({
        commonName: `system:node:${machineName.name}`,
        organizations: ['system:nodes'],
        usages: ['client auth', 'digital signature'],
        seconds: 86_400,
      });
      await patch('status', { certificate: Buffer.from(certificate).toString('base64') });
      await settle();
      return timestamp(new X509Certificate(certificate).validToDate.getTime());
    },

    secret: () => ignoreNotFound(client.get(secrets, { namespace: secretsNamespace, name: 'mac-1-bootstrap' })),
    secretText: async () => {
      const data = (await harness.secret())?.data ?? {};
      const read = (key: string): string | undefined =>
        data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString();
      const { sudoPassword, username, hostFingerprint } = secretKeys.machine;
      return { password: read(sudoPassword), username: read(username), hostKey: read(hostFingerprint) };
    },
    putPassword: async (password: string) => {
      const name = { namespace: secretsNamespace, name: 'mac-1-bootstrap' };
      const body = { data: { [secretKeys.machine.sudoPassword]: Buffer.from(password).toString('base64') } };
      await client.patch(secrets, name, { type: 'merge', body });
    },
    tokens: async () =>
      (await client.list(secrets, { namespace: 'kube-system' })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith('bootstrap-token-')),
    events: async () => (await client.list(events, { namespace })).items.map(({ reason }) => reason ?? ''),
    /** The message of an event. */
    eventText: async (reason: string) =>
      (await client.list(events, { namespace })).items.find((event) => event.reason === reason)?.message ?? '',

    giveTurn: async (more: { rollBack?: boolean; hash?: string } = {}) => {
      const { metadata, status } = await get();
      const turn = {
        machine: metadata.name,
        uid: metadata.uid,
        hash: more.hash ?? status?.desiredHostConfigHash ?? '',
        canary: true,
        grantedAt: timestamp(clock.now()),
        revision: 'r',
        ...(more.rollBack && { rollBack: true }),
      };
      await harness.setTurns([turn]);
    },
    setTurns: async (turns: NonNullable<NonNullable<(typeof macFleet.resource)['ofType']>['status']>['turns']) => {
      const name = { namespace, name: 'runners' };
      const live =
        (await ignoreNotFound(client.get(macFleet.resource, name))) ??
        (await client.create(macFleet.resource, macFleet.make({ metadata: name })));
      await patchStatus(client, macFleet.resource, live, { observedGeneration: 1, ...(turns && { turns }) });
      await settle();
    },

    /** A machine that holds a Mac, up to its bootstrap. */
    claimed: async (spec: Partial<MachineSpec> = {}) => {
      await harness.addHost();
      await harness.addMachine(spec);
      await harness.rename();
    },
    /** A machine whose Node is Ready. */
    living: async (spec: Partial<MachineSpec> = {}) => {
      await harness.claimed(spec);
      await harness.addNode();
    },
    /** The desired state of all Macs changes. */
    release: async (agent: string) => {
      Object.assign(settings, hostSettingsWith(agent));
      await harness.patchMachine({ metadata: { annotations: { poke: agent } } });
    },
  };
  return harness;
};

export type Harness = Awaited<ReturnType<typeof createHarness>>;
