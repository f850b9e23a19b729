import { X509Certificate } from 'node:crypto';
import {
  certificateSigningRequests,
  type Client,
  createClient,
  createSubresources,
  inProcessTransport,
  namespaces,
  secrets,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, systemClock, timestamp } from '@tartan/kube/clock';
import { bindClusterRole, createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import type { CreateTransport } from '../node-identity.ts';

/** How certificate requests are decided. */
type ApproverAction = 'approve' | 'deny' | 'ignore';

/** An embedded Kubernetes on virtual time, with Node permissions, that checks certificates as far as the tests need it. */
export interface FakeCluster {
  readonly kubernetes: Kubernetes;
  readonly admin: Client;
  readonly createTransport: CreateTransport;
  /** `METHOD path` of every request through `createTransport`. */
  readonly requests: string[];
  /** The target server of each of them. */
  readonly servers: string[];
  /** For future requests. */
  approverAction: ApproverAction;
  /** Whether requests reach the server. */
  reachable: boolean;
  /** Certificates (PEM) that the server rejects. */
  readonly revoked: Set<string>;
  /** A kubeconfig with a fresh join token. */
  joinKubeconfig(): Promise<string>;
  revokeToken(kubeconfig: string): Promise<void>;
  stop(): void;
}

const subjectOf = (pem: string) => {
  const { subject } = new X509Certificate(pem);
  const parts = (type: string): string[] =>
    [...subject.matchAll(new RegExp(`^${type}=(.*)$`, 'gm'))].map((m) => `${m[1]}`);
  return { commonName: parts('CN')[0] ?? '', organizations: parts('O') };
};

/** Approves and signs, or denies, like the provider and kube-controller-manager. */
const startApprover = (kubernetes: Kubernetes, verdict: () => ApproverAction): (() => void) => {
  const resource = kubernetes.api.find('certificates.k8s.io', 'certificatesigningrequests');
  if (resource === undefined) throw new Error('no certificate requests');
  const transport = inProcessTransport(kubernetes.handle, {
    user: { commonName: 'admin', organizations: ['system:masters'] },
  });
  const options = { clock: { ...systemClock, after: () => () => {} } };
  const client = createClient(transport, options);
  const { approveCertificate } = createSubresources(transport, options);
  const judge = async (name: string): Promise<void> => {
    const request = await client.get(certificateSigningRequests, { name });
    const type = verdict() === 'approve' ? 'Approved' : 'Denied';
    const judged = await approveCertificate(request, { type, reason: 'Test', message: `it was ${type}` });
    if (type === 'Denied') return;
    const { request: base64, usages = [], expirationSeconds = 0 } = judged.spec;
    const pem = await kubernetes.identity.sign(Buffer.from(base64, 'base64').toString(), usages, expirationSeconds);
    const status = { ...judged.status, certificate: Buffer.from(pem).toString('base64') };
    await client.update(certificateSigningRequests, { ...judged, status }, { subresource: 'status' });
  };
  return kubernetes.api.subscribe(resource, ({ object, previous }) => {
    if (object !== undefined && previous === undefined && verdict() !== 'ignore') void judge(object.metadata.name);
  });
};

export const createFakeCluster = async (clock: ManualClock): Promise<FakeCluster> => {
  const kubernetes = await createKubernetes({ clock, controllers: false });
  bindClusterRole(kubernetes.api, 'system:node-bootstrapper', { kind: 'Group', name: 'system:bootstrappers:tartan' });
  const user = { commonName: 'admin', organizations: ['system:masters'] };
  const admin = createClient(inProcessTransport(kubernetes.handle, { user }), { clock });
  for (const name of ['kube-system', 'kube-node-lease'])
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  let tokens = 0;

  const createTransport: CreateTransport = (config) => {
    const send: Transport['send'] = async (request) => {
      const credentials = await config.credentials();
      if (!cluster.reachable) throw new Error('unreachable');
      const { certificate, headers } = credentials;
      const known = certificate && !cluster.revoked.has(certificate.cert);
      cluster.servers.push(config.server);
      cluster.requests.push(`${request.method} ${request.path.split('?')[0]}`);
      const nobody = { headers: { authorization: 'Bearer nobody' } };
      const who = known ? { user: subjectOf(certificate.cert) } : headers ? { headers } : nobody;
      const response = await inProcessTransport(kubernetes.handle, who).send(request);
      if (response.code === 401) config.refresh(credentials);
      return response;
    };
    return { send, close: () => {} };
  };

  const stopApprover = startApprover(kubernetes, () => cluster.approverAction);
  const cluster: FakeCluster = {
    kubernetes,
    admin,
    createTransport,
    requests: [],
    servers: [],
    approverAction: 'approve',
    reachable: true,
    revoked: new Set(),
    joinKubeconfig: async () => {
      tokens += 1;
      const id = `tok${String(tokens).padStart(3, '0')}`;
      await admin.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
        type: 'bootstrap.kubernetes.io/token',
        stringData: {
          'token-id': id,
          'token-secret': '0123456789abcdef',
          expiration: timestamp(clock.now() + 365 * 24 * 3_600_000),
          'usage-bootstrap-authentication': 'true',
          'auth-extra-groups': 'system:bootstrappers:tartan',
        },
      });
      return JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster: { server: 'https://cluster.example:6443' } }],
        users: [{ name: 'u', user: { token: `${id}.0123456789abcdef` } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      });
    },
    revokeToken: async (kubeconfig) => {
      const id = /tok\d{3}/.exec(kubeconfig)?.[0];
      await admin.delete(secrets, { namespace: 'kube-system', name: `bootstrap-token-${id}` });
    },
    stop: () => {
      stopApprover();
      kubernetes.stop();
    },
  };
  return cluster;
};
