import type { TestContext } from 'node:test';
import { machine, type MachineStatus, macHost, type MacHost, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  createClient,
  customResourceDefinitions,
  inProcessTransport,
  isKubeError,
  type Live,
  namespaces,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { freeStatus } from './hosts.ts';

export const namespace = 'macs';

const ignoreAlreadyExists = (error: unknown): void => {
  if (!isKubeError(error, 'alreadyExists')) throw error;
};

/** An embedded Kubernetes with our kinds, on virtual time. */
export const startKubernetes = async (): Promise<{ transport: Transport; clock: ManualClock; close: () => void }> => {
  const clock = manualClock(Date.parse('2026-06-01T00:00:00Z'));
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const transport = inProcessTransport(kubernetes.handle, { user });
  const client = createClient(transport, { clock });
  for (const definition of definitions) await client.create(customResourceDefinitions, definition);
  // Events about cluster-scoped objects are in `default`.
  for (const name of [namespace, 'default'])
    await client
      .create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
      .catch(ignoreAlreadyExists);
  return { transport, clock, close: () => kubernetes.stop() };
};

/** Objects that tests create, bypassing the code under test. */
export const fixturesFor = (client: Client) => ({
  addMachine: async (name: string, status?: MachineStatus, spec: object = {}) => {
    const made = await client.create(machine.resource, machine.make({ metadata: { name, namespace }, spec }));
    if (status === undefined) return made;
    return client.patch(
      machine.resource,
      { name, namespace },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  },
  addHost: async (name: string, spec: Partial<MacHostSpec> = {}, status: MacHostStatus = {}) => {
    await client.create(macHost.resource, macHost.make({ metadata: { name }, spec: { zone: 'fr-par-1', ...spec } }));
    const body = { status: { ...freeStatus, ...status } };
    return client.patch(macHost.resource, { name }, { type: 'merge', body }, { subresource: 'status' });
  },
  host: (name: string): Promise<Live<MacHost>> => client.get(macHost.resource, { name }),
  machine: (name: string) => client.get(machine.resource, { name, namespace }),
  /** A status write by the MacHost controller. */
  touchHost: (name: string, status: MacHostStatus = { ip: '198.18.0.9' }) =>
    client.patch(macHost.resource, { name }, { type: 'merge', body: { status } }, { subresource: 'status' }),
  removeHost: (name: string) => client.delete(macHost.resource, { name }),
  touchMachine: (name: string) =>
    client.patch(
      machine.resource,
      { name, namespace },
      { type: 'merge', body: { metadata: { annotations: { touched: 'yes' } } } },
    ),
  changeHost: (name: string, spec: object) =>
    client.patch(macHost.resource, { name }, { type: 'merge', body: { spec } }),
});

type Send = Transport['send'];

export const createHarness = async (t: TestContext) => {
  const { transport, clock, close } = await startKubernetes();
  t.after(close);
  let between: (send: Send) => Send = (send) => send;
  const requests: string[] = [];
  const send: Send = (request) => {
    requests.push(`${request.method} ${request.path.split('?')[0]?.split('/').slice(4).join('/')}`);
    return between(transport.send)(request);
  };
  return {
    clock,
    /** For the code under test. */
    client: createClient({ ...transport, send }, { clock }),
    fixtures: fixturesFor(createClient(transport, { clock })),
    /** `PATCH machosts/a`: the requests of the code under test. */
    requests,
    interpose: (wrap: (send: Send) => Send) => {
      between = wrap;
    },
  };
};
