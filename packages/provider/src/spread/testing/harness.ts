import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import { annotations, labels } from '@tartan/api';
import {
  createClient,
  createInformer,
  createManager,
  type EventInput,
  type KubeObject,
  nodes,
  type Transport,
} from '@tartan/kube';
import { createTestCluster } from '../../testing/test-cluster.ts';
import { createFleetSpread } from '../controller.ts';
import { nodeIndexes } from '../../indexes.ts';
import { macNode } from './mac-node.ts';

interface DeploymentPatch {
  spec: { template: { metadata: { annotations: Record<string, string> } } };
}

/** The Deployment as a server stores it: settled, three Pods on Macs of the fleet `runners`. */
const createDeployment = () => {
  const annotations: Record<string, string> = {};
  const template = {
    metadata: { annotations },
    spec: { nodeSelector: { [labels.fleet]: 'runners' } },
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name: 'processor',
      namespace: 'apps',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { replicas: 3, template },
    status: { observedGeneration: 1, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
  };
};

/** A server with only this Deployment, which allows only get and patch. */
const deploymentServer = (deployment: ReturnType<typeof createDeployment>) => {
  const { metadata, spec, status } = deployment;
  const path = `/apis/apps/v1/namespaces/${metadata.namespace}/deployments/${metadata.name}`;
  const patches: DeploymentPatch[] = [];
  const rolls: string[] = [];
  const conflicts: string[] = [];
  const answer = (code: number, body: object) => ({
    code,
    headers: { 'content-type': 'application/json' },
    body: Readable.from([Buffer.from(JSON.stringify(body))]),
  });
  const patch = (body: DeploymentPatch) => {
    patches.push(body);
    const message = conflicts.shift();
    if (message !== undefined) return answer(409, { kind: 'Status', status: 'Failure', reason: 'Conflict', message });
    const stamps = Object.assign(spec.template.metadata.annotations, body.spec.template.metadata.annotations);
    rolls.push(stamps[annotations.fleetHash] ?? '');
    metadata.resourceVersion = String(Number(metadata.resourceVersion) + 1);
    status.observedGeneration = metadata.generation += 1;
    return answer(200, deployment);
  };
  const transport: Transport = {
    send: async (request) => {
      if (request.path.split('?')[0] !== path) return answer(403, { kind: 'Status', reason: 'Forbidden' });
      if (request.method === 'GET') return answer(200, deployment);
      if (request.method === 'PATCH') return patch(JSON.parse(request.body ?? ''));
      return answer(403, { kind: 'Status', reason: 'Forbidden' });
    },
    close: () => {},
  };
  return {
    transport,
    patches,
    /** The hashes it was rolled for, in order. */
    rolls,
    /** Messages of conflicts for the next patches. */
    conflicts,
  };
};

/** Nodes on an embedded Kubernetes. It has no Deployments, so a fake server has the one, with get and patch only. */
export const createHarness = async (t: TestContext) => {
  const { client, clock, log, settle, advance } = await createTestCluster(t, { namespace: 'apps' });
  const deployment = createDeployment();
  const { transport, ...played } = deploymentServer(deployment);
  const messages: string[] = [];
  const cache = createInformer({ client, resource: nodes, indexes: nodeIndexes, clock, random: () => 0.5, log });
  const options = {
    deployment: { namespace: 'apps', name: 'processor' },
    client: createClient(transport, { clock }),
    nodes: cache,
    events: {
      event: (_object: KubeObject, { message }: EventInput) => {
        messages.push(message);
      },
    },
    clock,
    log,
  };
  return {
    options,
    deployment,
    ...played,
    messages,
    start: async () => {
      const controller = createFleetSpread(options);
      const manager = createManager({
        caches: { nodes: cache },
        controllers: controller ? [controller] : [],
        clock,
        log,
      });
      const stopping = new AbortController();
      const running = manager.run(stopping.signal);
      await settle();
      return async () => {
        stopping.abort();
        await settle();
        return running;
      };
    },
    pass: (seconds: number) => advance(seconds * 1000, 5000),
    addNode: (name: string, fleet = 'runners') => client.create(nodes, macNode(name, { fleet })),
    setReady: (name: string, ready: boolean) =>
      client.patch(
        nodes,
        { name },
        { type: 'merge', body: { status: macNode(name, { ready }).status ?? {} } },
        { subresource: 'status' },
      ),
  };
};
