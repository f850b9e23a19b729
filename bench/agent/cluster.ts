import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createSubresources,
  httpsTransport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { startControlPlane } from '@tartan/tools-kubernetes';
import { watch } from './watch.ts';

export interface Access {
  readonly url: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** A real API server that records the requests of the Node. */
export interface Cluster {
  readonly admin: Client;
  /** As this Node, with the rights of a Node. */
  readonly node: Access;
  /** The requests of the Node so far, each as `get /api/v1/…`. */
  requests(): Promise<string[]>;
  stop(): Promise<void>;
}

/** One line per request, when it arrives: the end of a watch is not a request. */
const auditPolicy = (user: string) => ({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['ResponseStarted', 'ResponseComplete', 'Panic'],
  rules: [{ level: 'Metadata', users: [user] }, { level: 'None' }],
});

const asked = (line: string): string => {
  const { verb, requestURI } = JSON.parse(line) as { verb: string; requestURI: string };
  return `${verb} ${requestURI}`;
};

export const startCluster = async (folder: string, nodeName: string): Promise<Cluster> => {
  const user = `system:node:${nodeName}`;
  const [policy, auditLog] = [join(folder, 'audit-policy.json'), join(folder, 'audit.log')];
  await writeFile(policy, JSON.stringify(auditPolicy(user)));
  const plane = await startControlPlane({
    controllerManager: true,
    apiServerFlags: [`--audit-policy-file=${policy}`, `--audit-log-path=${auditLog}`],
  });
  const { url, caCertificate: ca, clientCertificate, clientKey } = plane;
  const certificate = { cert: clientCertificate, key: clientKey };
  const transport = httpsTransport({ server: url, ca, clock, credentials: () => ({ certificate }) });
  const admin = createClient(transport, { clock });
  const own = await plane.issue({ user, groups: ['system:nodes'] });

  // In production the provider approves the certificate of the kubelet API. Without it the agent would keep asking.
  const { approveCertificate } = createSubresources(transport, { clock });
  const requests = await watch(certificateSigningRequests, admin);
  const approving = requests.cache.subscribe((change) => {
    if (change.type === 'removed') return;
    const { spec, status } = change.object;
    if (spec.username !== user || (status?.conditions ?? []).length > 0) return;
    void approveCertificate(change.object, { type: 'Approved', reason: 'Bench', message: 'it is ours' }).catch(
      () => {},
    );
  });

  return {
    admin,
    node: { url, ca, cert: own.certificate, key: own.key },
    requests: async () => (await readFile(auditLog, 'utf8')).split('\n').filter(Boolean).map(asked),
    stop: async () => {
      approving();
      await requests.stop();
      transport.close();
      await plane.stop();
    },
  };
};
