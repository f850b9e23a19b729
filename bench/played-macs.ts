import { annotations } from '@tartan/api';
import { summaryHash } from '@tartan/host';
import { type Client, isKubeError, nodes } from '@tartan/kube';
import { type Clock, sleep, timestamp } from '@tartan/kube/clock';
import type { ProviderDeps } from '@tartan/provider';

interface PlayedMacsOptions {
  /** Of an administrator: what the agents on the Macs write is no work of the manager. */
  readonly client: Client;
  readonly clock: Clock;
  /** How long a push takes. */
  readonly pushMs: number;
  /** What its agent does with the token of that id after the first push. */
  readonly join?: (nodeName: string, tokenID: string) => Promise<void>;
}

/** Macs without SSH and processes: each accepts every push, and its agent then reports on its Node. */
export const playMacs = ({
  client,
  clock,
  pushMs,
  join = async () => {},
}: PlayedMacsOptions): NonNullable<ProviderDeps['hostWork']> => {
  let installs = 0;
  const report = async (name: string, providerID: string, summary: string): Promise<void> => {
    const noted = { annotations: { [annotations.hostConfigHash]: summary } };
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name, ...noted }, spec: { providerID } } as const;
    await client.create(nodes, node).catch(async (error: unknown) => {
      if (!isKubeError(error, 'alreadyExists')) throw error;
      await client.patch(nodes, { name }, { type: 'merge', body: { metadata: noted } });
    });
    const at = timestamp(clock.now());
    const ready = { type: 'Ready', status: 'True', reason: 'Played', lastHeartbeatTime: at, lastTransitionTime: at };
    const body = { status: { conditions: [ready] } };
    await client.patch(nodes, { name }, { type: 'merge', body }, { subresource: 'status' });
  };
  return {
    perform: async ({ task, pinnedHostKey, pin }, signal) => {
      await sleep(clock, pushMs, signal);
      if (signal.aborted) return { kind: 'aborted' };
      // A reinstalled Mac has another key.
      if (pinnedHostKey === undefined) await pin(`SHA256:install-${++installs}`);
      if (task.kind !== 'converge')
        return { kind: 'rejected', step: 'agent-job', message: 'There is nothing to put back.' };
      const { nodeName, agent } = task.spec;
      const summary = summaryHash(task.spec);
      await report(nodeName, agent.providerID ?? '', summary);
      // The agent joins after the push.
      if (task.secrets.joinKubeconfig !== undefined) void join(nodeName, agent.joinVersion ?? '');
      return { kind: 'done', summary, deferred: [], optionalFailures: [], rebootPending: false };
    },
  };
};
