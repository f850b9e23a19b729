import { certificateSigningRequests, createClient, inProcessTransport, leases } from '@tartan/kube';
import { microTimestamp, sleep, timestamp } from '@tartan/kube/clock';
import { joinGroup } from '../../packages/provider/src/identity/names.ts';
import { makeCSR, subjectOf } from '../../packages/provider/src/identity/testing/make-csr.ts';
import { startVirtualFleet, type VirtualFleetOptions } from '../virtual-fleet.ts';

export interface BringUp {
  /** Requests to the API server for each machine, by verb and resource. */
  readonly requests: ReadonlyMap<string, number>;
  /** From the creation of the machines until all are Ready and need nothing, in virtual seconds. */
  readonly seconds: number;
  /** For each controller, the longest time for which a key waited for a worker, in seconds. */
  readonly longestWaits: ReadonlyMap<string, number>;
}

/** As of a busy API server. */
const requestMs = 10;
/** As of played hosts. */
const pushMs = 1_000;
const daySeconds = 86_400;
const patienceMs = 2 * 3_600_000;

/** The agent of a Mac gets a certificate, which the manager approves, and renews its Lease. */
const joinWith: NonNullable<VirtualFleetOptions['join']> =
  ({ kubernetes, client, time }) =>
  async (nodeName, tokenID) => {
    const asMac = inProcessTransport(kubernetes.handle, {
      user: { commonName: `system:bootstrap:${tokenID}`, organizations: [joinGroup, 'system:masters'] },
    });
    const transport = {
      ...asMac,
      send: (request: Parameters<typeof asMac.send>[0]) => time.during(() => asMac.send(request)),
    };
    const { metadata } = await createClient(transport, { clock: time }).create(certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `csr-${nodeName}` },
      spec: {
        request: makeCSR({ subject: subjectOf(nodeName) }),
        signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
        usages: ['client auth', 'digital signature'],
        expirationSeconds: 3 * daySeconds,
      },
    });
    const isApproved = async (): Promise<boolean> => {
      const { status } = await client.get(certificateSigningRequests, metadata);
      return status?.conditions?.some(({ type }) => type === 'Approved') === true;
    };
    while (!(await isApproved())) await sleep(time, 1000);
    const { certificate } = await kubernetes.identity.issue({
      commonName: `system:node:${nodeName}`,
      organizations: ['system:nodes'],
      usages: ['client auth', 'digital signature'],
      seconds: 3 * daySeconds,
    });
    const status = { certificate: Buffer.from(certificate).toString('base64') };
    const merge = { type: 'merge', body: { status } } as const;
    await client.patch(certificateSigningRequests, metadata, merge, { subresource: 'status' });
    await client.create(leases, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'kube-node-lease', name: nodeName },
      spec: { renewTime: microTimestamp(time.now()), holderIdentity: nodeName },
    });
  };

/** Brings so many machines up at once. */
export const bringUp = async (count: number): Promise<BringUp> => {
  const fleet = await startVirtualFleet({ hosts: count, pushMs, requestMs, join: joinWith });
  const { time, machines, requests, longestWaits } = fleet;
  try {
    await time.pass(60_000);
    requests.length = 0;
    const began = time.now();
    await Promise.all(Array.from({ length: count }, (_, index) => fleet.createMachine(`mac-${index}`)));
    const isDone = (): boolean => {
      const all = machines.list();
      return (
        all.length === count && all.every(({ status }) => status?.ready === true && status.joinTokenID === undefined)
      );
    };
    while (!isDone()) {
      await time.pass(1000);
      if (time.now() - began > patienceMs) {
        const late = machines.list().find(({ status }) => status?.ready !== true || status.joinTokenID !== undefined);
        throw new Error(`not all machines are Ready at ${timestamp(time.now())}: ${JSON.stringify(late?.status)}`);
      }
    }
    const seconds = (time.now() - began) / 1000;
    const counts = new Map<string, number>();
    for (const request of requests) {
      const kind = kindOf(request);
      counts.set(kind, (counts.get(kind) ?? 0) + 1 / count);
    }
    return { requests: counts, seconds, longestWaits: new Map(longestWaits) };
  } finally {
    await fleet.stop();
  }
};

/** `PATCH machosts/status` of a request to one MacHost. */
const kindOf = (request: string): string => {
  const [method = '', path = ''] = request.split(' ');
  const parts = path.split('/').slice(path.startsWith('/api/') ? 3 : 4);
  const [resource = '', , subresource] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts;
  return `${method} ${subresource === undefined ? resource : `${resource}/${subresource}`}`;
};
