import { finalizers } from '@tartan/api';
import { type Client, nodes, pods } from '@tartan/kube';

const namespace = 'default';
const connections = 16;

const numbered = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A Pod like that of a Deployment with a sidecar, on a Node that is not a Mac: 11 KB with managed fields. */
const foreignPod = (index: number) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: {
    namespace,
    name: `web-${index}`,
    labels: Object.fromEntries(numbered(8, (label) => [`example.com/label-${label}`, `value-${index}-${label}`])),
    annotations: Object.fromEntries(
      numbered(5, (note) => [`example.com/annotation-${note}`, `${index}-${note} ${'x'.repeat(320)}`]),
    ),
  },
  spec: {
    nodeName: `linux-${index % 500}`,
    containers: ['web', 'sidecar'].map((name) => ({
      name,
      image: `registry.example.com/team-${index % 50}/${name}@sha256:${`${index}`.padStart(64, '0')}`,
      args: numbered(4, (argument) => `--option-${argument}=${index}`),
      env: numbered(14, (variable) => ({ name: `SETTING_${variable}`, value: `value ${index} of ${variable}` })),
      ports: [{ containerPort: 8080, name: 'http' }],
      resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
      livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
      readinessProbe: { httpGet: { path: '/readyz', port: 8080 }, periodSeconds: 10 },
      volumeMounts: numbered(3, (volume) => ({ name: `volume-${volume}`, mountPath: `/mnt/${volume}` })),
    })),
    volumes: numbered(3, (volume) => ({ name: `volume-${volume}`, configMap: { name: `config-${index}-${volume}` } })),
  },
});

/** For all of them, some at a time. */
const forEach = async (count: number, work: (index: number) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(numbered(connections, worker));
};

export const createForeignPods = (client: Client, count: number): Promise<void> =>
  forEach(count, (index) => client.create(pods, foreignPod(index)));

/** Writes to that many of them. */
export const touchForeignPods = (client: Client, count: number, note: string): Promise<void> =>
  forEach(count, (index) =>
    client.patch(
      pods,
      { namespace, name: `web-${index}` },
      { type: 'merge', body: { metadata: { annotations: { note } } } },
    ),
  );

/** A Mac with a deleted Pod that its agent still holds: the manager shows each such Mac in its metrics. */
export const addMacThatHoldsPod = async (client: Client, mac: string): Promise<void> => {
  const name = `vm-${mac}`;
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: mac } });
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, finalizers: [finalizers.vmCleanup] },
    spec: { nodeName: mac, containers: [{ name: 'vm', image: 'macos' }] },
  });
  await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0 });
};

/** Average size as JSON, of a sample. */
export const averageSize = async (client: Client): Promise<number> => {
  const sample = await Promise.all(
    numbered(20, async (index) => JSON.stringify(await client.get(pods, { namespace, name: `web-${index}` })).length),
  );
  return sample.reduce((sum, size) => sum + size, 0) / sample.length;
};
