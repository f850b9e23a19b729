import { annotations } from '@tartan/api';
import {
  certificateSigningRequests,
  type Client,
  isKubeError,
  leases,
  type Live,
  nodes,
  type ObjectName,
  secrets,
} from '@tartan/kube';
import { microTimestamp, timestamp } from '@tartan/kube/clock';
import type { VirtualTime } from '@tartan/kube/testing';
import { makeCSR, subjectOf } from '../../packages/provider/src/identity/testing/make-csr.ts';
import { type Agent, type Mac, summaryOn } from './mac.ts';

export interface AgentsOptions {
  readonly time: VirtualTime;
  readonly admin: Client;
  /** The client with which a Mac requests its first certificate. */
  readonly clientOf: (user: { commonName: string; organizations: readonly string[] }) => Client;
  /** Signs like the controller of Kubernetes, once a request is approved. Returns PEM. */
  readonly sign: (nodeName: string) => Promise<string>;
  readonly isUp: (mac: Mac) => boolean;
}

/** The agents on Macs: join with the given credentials, then report the Mac's state on their Nodes. */
export interface Agents {
  /** It is up after some seconds. */
  start(mac: Mac): void;
  /** A running agent reports that its Mac has changed. */
  report(mac: Mac): void;
  /** The agent stops reporting. */
  stopReporting(agent: Agent): void;
}

const startMs = 5_000;
const retryMs = 20_000;

/** Cached: creating a request takes longer than everything else here. */
const requests = new Map<string, string>();
const requestFor = (nodeName: string): string => {
  const request = requests.get(nodeName) ?? makeCSR({ subject: subjectOf(nodeName) });
  requests.set(nodeName, request);
  return request;
};

const unlessGone = async <T>(found: Promise<T>): Promise<T | undefined> => {
  try {
    return await found;
  } catch (error) {
    if (isKubeError(error, 'notFound')) return undefined;
    throw error;
  }
};

export const createAgents = (options: AgentsOptions): Agents => {
  const { time, admin } = options;

  const setReady = async (name: ObjectName, status: 'True' | 'False' | 'Unknown', message: string): Promise<void> => {
    const at = timestamp(time.now());
    const conditions = [{ type: 'Ready', status, reason: 'Agent', message, lastTransitionTime: at }];
    const patch = { type: 'merge', body: { status: { conditions } } } as const;
    await unlessGone(admin.patch(nodes, name, patch, { subresource: 'status' }));
  };
  const isOurs = (node: Live<NonNullable<(typeof nodes)['ofType']>> | undefined, { providerID }: Agent): boolean =>
    node?.spec?.providerID === providerID;

  const ask = async (mac: Mac, { nodeName, start }: Agent): Promise<void> => {
    const { tokenID = '', secret = '' } = mac.join ?? {};
    const name = { namespace: 'kube-system', name: `bootstrap-token-${tokenID}` };
    const token = await unlessGone(admin.get(secrets, name));
    if (Buffer.from(token?.data?.['token-secret'] ?? '', 'base64').toString() !== secret || secret === '') return;
    const user = { commonName: `system:bootstrap:${tokenID}`, organizations: ['system:bootstrappers:tartan'] };
    const csr = `${nodeName}-${mac.install}-${start}-${tokenID}`;
    const known = await unlessGone(admin.get(certificateSigningRequests, { name: csr }));
    if (known === undefined) {
      await options.clientOf(user).create(certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: csr },
        spec: {
          request: requestFor(nodeName),
          signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
          usages: ['client auth', 'digital signature'],
          expirationSeconds: 86_400,
        },
      });
    } else if (known.status?.conditions?.some(({ type }) => type === 'Approved')) {
      const certificate = Buffer.from(await options.sign(nodeName)).toString('base64');
      const patch = { type: 'merge', body: { status: { certificate } } } as const;
      await admin.patch(certificateSigningRequests, { name: csr }, patch, { subresource: 'status' });
      mac.hasIdentity = true;
    }
  };

  const register = async (mac: Mac, agent: Agent): Promise<boolean> => {
    const { nodeName: name, providerID, labels } = agent;
    if (!options.isUp(mac)) return false;
    if (!mac.hasIdentity) await ask(mac, agent);
    if (!mac.hasIdentity) return false;
    const summary = summaryOn(mac);
    mac.reportedHashes.push(summary);
    const marks = { [annotations.hostConfigHash]: summary };
    const node = await unlessGone(admin.get(nodes, { name }));
    if (node !== undefined && !isOurs(node, agent)) return false;
    if (node === undefined) {
      const metadata = { name, labels: { ...labels }, annotations: marks };
      await admin.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata, spec: { providerID } });
    } else {
      await admin.patch(nodes, { name }, { type: 'merge', body: { metadata: { annotations: marks } } });
    }
    await setReady({ name }, 'True', 'the agent runs');
    const lease = { namespace: 'kube-node-lease', name };
    const spec = { renewTime: microTimestamp(time.now()) };
    if ((await unlessGone(admin.patch(leases, lease, { type: 'merge', body: { spec } }))) === undefined)
      await admin.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: lease, spec });
    return true;
  };

  const tryUntilRegistered = (mac: Mac, agent: Agent, afterMs: number): void => {
    time.after(afterMs, () => {
      if (mac.agent?.start !== agent.start || mac.agent.nodeName !== agent.nodeName) return;
      void time.during(async () => {
        if (!(await register(mac, agent))) tryUntilRegistered(mac, agent, retryMs);
      });
    });
  };

  const setNodeStatus = (agent: Agent, status: 'False' | 'Unknown', message: string): void =>
    void time.during(async () => {
      const node = await unlessGone(admin.get(nodes, { name: agent.nodeName }));
      if (isOurs(node, agent)) await setReady({ name: agent.nodeName }, status, message);
    });

  return {
    start: (mac) => {
      const { agent } = mac;
      if (agent === undefined) return;
      setNodeStatus(agent, 'False', 'the agent starts');
      tryUntilRegistered(mac, agent, startMs);
    },
    report: (mac) => {
      if (mac.agent && mac.hasIdentity) tryUntilRegistered(mac, mac.agent, startMs);
    },
    stopReporting: (agent) => setNodeStatus(agent, 'Unknown', 'the agent does not report'),
  };
};
