import { json } from 'node:stream/consumers';
import { leaderElectionID } from '@tartan/api';
import { errorMessage, leases, nodes, type Transport } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import packageFile from '../../package.json' with { type: 'json' };
import { type Connection } from '../cluster/connection.ts';
import { listIfAllowed } from '../cluster/list.ts';
import { agentOf, isMacNode, readinessOf } from '../cluster/macs.ts';
import type { Node } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import type { Table } from '../output/table.ts';
import { documentSchema, nullable, type Page } from '../output/view.ts';

export const versionDocument = documentSchema('tartan.version/v1', {
  client: z.object({
    version: z.string().describe('Of this command.'),
    node: z.string().describe('Version of Node.js.'),
  }),
  server: nullable(z.object({ version: z.string() }), 'Kubernetes; null: not requested, or no answer.'),
  manager: nullable(
    z.object({ holder: z.string(), namespace: z.string(), renewed: nullable(z.string()) }),
    'The leader, by its Lease; null: none was found.',
  ),
  agents: z.array(
    z.object({ node: z.string(), version: nullable(z.string()), ready: z.enum(['True', 'False', 'Unknown']) }),
  ),
});

export type VersionDocument = z.infer<typeof versionDocument>;

const client = { version: packageFile.version, node: process.version };

export const clientDocument = (now: number, notes: readonly string[] = []): VersionDocument => ({
  schema: 'tartan.version/v1',
  at: timestamp(now),
  client,
  server: null,
  manager: null,
  agents: [],
  notes: [...notes],
});

export const versionsOf = async (cluster: Connection, signal: AbortSignal): Promise<VersionDocument> => {
  const server = await serverVersion(cluster.transport, signal);
  const [macs, leaders] = await Promise.all([
    listIfAllowed(cluster, nodes, { signal }),
    listIfAllowed(cluster, leases, { signal, fieldSelector: `metadata.name=${leaderElectionID}` }),
  ]);
  const [leader] = leaders.items ?? [];
  const holder = leader?.spec?.holderIdentity;
  return {
    ...clientDocument(cluster.clock.now(), [...macs.notes, ...leaders.notes]),
    server: { version: server },
    manager: holder
      ? { holder, namespace: leader.metadata.namespace ?? '', renewed: leader.spec?.renewTime ?? null }
      : null,
    agents: (macs.items ?? []).filter(isMacNode).map((node: Node) => ({
      node: node.metadata.name,
      version: agentOf(node) ?? null,
      ready: readinessOf(node),
    })),
  };
};

const versionAnswer = z.object({ gitVersion: z.string() });

/** Needs no permission. */
const serverVersion = async (transport: Pick<Transport, 'send'>, signal: AbortSignal): Promise<string> => {
  try {
    const { body } = await transport.send({ method: 'GET', path: '/version', headers: {}, signal });
    return versionAnswer.parse(await json(body)).gitVersion;
  } catch (error) {
    const isNotKubernetes = error instanceof z.ZodError || error instanceof SyntaxError;
    const why = isNotKubernetes ? 'the answer is not that of Kubernetes' : errorMessage(error);
    throw new Error(
      `The version of the cluster cannot be read: ${why}. Check that it is the right cluster (kubectl config current-context), and that you are on its network.`,
      { cause: error },
    );
  }
};

export const versionPage = (document: VersionDocument): Page => {
  const { server, manager, agents, notes, at } = document;
  const table: Table = {
    head: ['WHAT', 'VERSION', 'WHERE'],
    rows: [
      { key: 'client', cells: ['tartan', document.client.version, `Node ${document.client.node}`] },
      ...(server === null ? [] : [{ key: 'server', cells: ['Kubernetes', server.version, ''] }]),
      ...(manager === null
        ? []
        : [
            {
              key: 'manager',
              cells: [
                'manager',
                '',
                `${manager.holder} leads, renewed ${ageSince(manager.renewed, Date.parse(at)) || '?'} ago`,
              ],
            },
          ]),
      ...agents.map(({ node, version, ready }) => ({
        key: `agent ${node}`,
        cells: ['agent', version ?? '?', ready === 'True' ? node : `${node} (not Ready)`],
      })),
    ],
  };
  return { tables: [table], lines: notes };
};
