import type { TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import {
  annotations,
  kindNames,
  type MacFleet,
  macFleet,
  machine,
  type MachineSpec,
  type MachineStatus,
  type ScalewayAppleSiliconMachine,
} from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  createInformer,
  createLogger,
  customResourceDefinitions,
  type EventInput,
  type Informer,
  inProcessTransport,
  KubeError,
  type KubeObject,
  type Live,
  namespaces,
  nodes,
  type Resource,
  type Transport,
} from '@tartan/kube';
import { manualClock, timestamp } from '@tartan/kube/clock';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { coreMachineDeployments } from '../../core/kinds.ts';
import { createFleetController } from '../controller.ts';
import { indexesOf, listerOf, machineIndexes } from '../../indexes.ts';

type Send = Transport['send'];

export const namespace = 'macs';
export const deployments = coreMachineDeployments('v1beta2');
const ours: readonly string[] = [kindNames.machine.kind, kindNames.macFleet.kind];

const minute = 60_000;

type Machines = Informer<ScalewayAppleSiliconMachine>;

/** A cache that lags: whatever changes, it shows these objects. */
const staleCache = ({ subscribe }: Machines, objects: ReturnType<Machines['list']>) => ({
  ...listerOf(objects, machineIndexes),
  subscribe: (listener: Parameters<Machines['subscribe']>[0]) =>
    subscribe(() => {
      for (const object of objects) listener({ type: 'added', object });
    }),
});

/** An embedded Kubernetes with machines, on virtual time. Tests do what the machine controller would do. */
export const createHarness = async (t: TestContext) => {
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  t.after(() => kubernetes.stop());
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  const client = createClient(transport, { clock });
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (const definition of definitions)
    if (ours.includes(definition.spec.names.kind)) await client.create(customResourceDefinitions, definition);
  for (const definition of coreDefinitions()) await client.create(customResourceDefinitions, definition);

  let underWay = 0;
  let isRefused: (request: Parameters<Send>[0]) => boolean = () => false;
  /** The code of every response to a PATCH: 200, or 409 for a conflict. */
  const codes: number[] = [];
  const creates: number[] = [];
  const requests: string[] = [];
  const watched: Transport = {
    ...transport,
    send: async (request) => {
      underWay += 1;
      try {
        if (!request.path.includes('watch=true')) requests.push(`${request.method} ${request.path.split('/').at(-1)}`);
        if (isRefused(request)) throw new KubeError('unreachable', 'somebody is down');
        const answer = await transport.send(request);
        if (request.method === 'PATCH') codes.push(answer.code);
        if (request.method === 'POST') creates.push(answer.code);
        return answer;
      } finally {
        underWay -= 1;
      }
    },
  };
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 60; quiet += 1) {
      await setImmediate();
      if (underWay > 0) quiet = 0;
    }
  };

  const log = createLogger({ write: () => {}, clock, level: 'error' });
  const stopping = new AbortController();
  const running: Promise<void>[] = [];
  t.after(async () => {
    stopping.abort();
    await Promise.all(running);
  });
  const follow = async <T extends KubeObject>(theirs: Client, resource: Resource<T>): Promise<Informer<T>> => {
    const cache = createInformer({
      client: theirs,
      resource,
      indexes: indexesOf(resource),
      clock,
      random: () => 0.5,
      log,
    });
    running.push(cache.run(stopping.signal));
    await cache.synced;
    return cache;
  };

  const eventReasons: string[] = [];
  const messages: string[] = [];
  let revision = 'r1';
  const name = (of: string) => ({ namespace, name: of });
  const setNodeReady = async (of: string, ready: boolean): Promise<void> => {
    const status = ready ? 'True' : 'False';
    const body = { status: { conditions: [{ type: 'Ready', status, lastTransitionTime: timestamp(clock.now()) }] } };
    await client.patch(nodes, { name: of }, { type: 'merge', body }, { subresource: 'status' });
  };
  const fleetOf = (of: string) => client.get(macFleet.resource, name(of));

  return {
    clock,
    client,
    codes,
    /** The same for POST. */
    creates,
    /** Method and last part of the path of every request of managers, except watches. */
    requests,
    settle,
    /** Lets chosen requests of managers fail. */
    refuse: (choose: (request: Parameters<Send>[0]) => boolean) => {
      isRefused = choose;
    },
    /** Reasons of the events, oldest first, and their messages. */
    eventReasons,
    messages,
    /** Starts a manager with its own caches. `between` wraps its requests. `staleMachines`: its cache of machines shows this, for ever. */
    start: async (
      between: (send: Send) => Send = (send) => send,
      releaseID?: string,
      staleMachines?: Live<ScalewayAppleSiliconMachine>[],
    ) => {
      const theirs = createClient({ ...watched, send: between(watched.send) }, { clock });
      const machines = await follow(theirs, machine.resource);
      const controller = createFleetController({
        client: theirs,
        macFleets: await follow(theirs, macFleet.resource),
        machines: staleMachines ? staleCache(machines, staleMachines) : machines,
        nodes: await follow(theirs, nodes),
        clusters: { get: () => undefined, subscribe: () => () => {} },
        machineDeployments: await follow(theirs, deployments),
        machineDeploymentResource: deployments,
        events: {
          event: (_object: KubeObject, { reason, message }: EventInput) => {
            eventReasons.push(reason);
            messages.push(message);
          },
        },
        revisionOf: async () => revision,
        releaseID,
        retryAfterMs: 30 * minute,
        clock,
        log,
      });
      running.push(controller.run(stopping.signal));
      await settle();
    },
    pass: async (minutes: number) => {
      for (let passed = 0; passed < minutes; passed += 0.25) {
        await settle();
        clock.advance(minute / 4);
      }
      await settle();
    },
    /** Ready and up to date by default. */
    addMachine: async (
      of: string,
      spec: Partial<MachineSpec> = { fleetName: 'runners' },
      status: MachineStatus = {},
    ) => {
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: of } });
      await setNodeReady(of, true);
      await client.create(machine.resource, machine.make({ metadata: name(of), spec }));
      const initialization = { provisioned: true };
      const hash = `${of}-r1`;
      const body = {
        status: { initialization, hostConfigHash: hash, desiredHostConfigHash: hash, ...status },
      };
      await client.patch(machine.resource, name(of), { type: 'merge', body }, { subresource: 'status' });
    },
    setStatus: async (of: string, status: { [Member in keyof MachineStatus]?: MachineStatus[Member] | null }) => {
      await client.patch(machine.resource, name(of), { type: 'merge', body: { status } }, { subresource: 'status' });
    },
    setReady: async (of: string, ready: boolean) => {
      await setNodeReady(of, ready);
      await settle();
    },
    /** The desired state of these machines changes. */
    release: async (next: string, ...machines: readonly string[]) => {
      revision = next;
      for (const of of machines) {
        const body = { status: { desiredHostConfigHash: `${of}-${next}` } };
        await client.patch(machine.resource, name(of), { type: 'merge', body }, { subresource: 'status' });
      }
      await settle();
    },
    /** Pushes to every machine with a turn, as the machine controller would. Returns their names. */
    push: async (of = 'runners'): Promise<string[]> => {
      const turns = (await fleetOf(of)).status?.turns ?? [];
      for (const { machine: holder, hash } of turns) {
        const body = { status: { hostConfigHash: hash } };
        await client.patch(machine.resource, name(holder), { type: 'merge', body }, { subresource: 'status' });
      }
      await settle();
      return turns.map(({ machine: holder }) => holder);
    },
    /** What the agent reports. */
    report: async (of: string, hash: string) => {
      const body = { metadata: { annotations: { [annotations.hostConfigHash]: hash } } };
      await client.patch(nodes, { name: of }, { type: 'merge', body });
      await settle();
    },
    fleetOf,
    turnsOf: async (of = 'runners') => ((await fleetOf(of)).status?.turns ?? []).map((turn) => turn.machine),
    setSpec: async (spec: Partial<MacFleet['spec']>, of = 'runners') => {
      await client.patch(macFleet.resource, name(of), { type: 'merge', body: { spec } });
      await settle();
    },
  };
};
