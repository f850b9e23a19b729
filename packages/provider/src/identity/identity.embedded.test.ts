import { httpsTransport, type PolicyRule } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, type KubernetesOptions, serve } from '@tartan/sim-kubernetes';
import { joinGroup, nodesGroup } from './names.ts';
import { identityRights } from './rights.ts';
import { type JoinableCluster, runJoinSuite } from './testing/join-suite.ts';

type Authorize = NonNullable<KubernetesOptions['authorize']>;
type Attributes = Parameters<Authorize>[0];

const covers = (right: PolicyRule, { group, resource, subresource, verb, name }: Attributes): boolean =>
  right.apiGroups.includes(group) &&
  right.resources.includes(subresource === '' ? resource : `${resource}/${subresource}`) &&
  right.verbs.includes(verb) &&
  (right.resourceNames === undefined || right.resourceNames.includes(name));

/** The rules of the role `system:node-bootstrapper`. */
const requests: PolicyRule = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['certificatesigningrequests'],
  verbs: ['create', 'get', 'list', 'watch'],
};
/** As much of the Node authorizer as this suite needs. */
const nodes: PolicyRule = { apiGroups: [''], resources: ['nodes'], verbs: ['create', 'get'] };
const leases: PolicyRule = {
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  verbs: ['create', 'get', 'update'],
};

const rightsOf = ({ user, namespace }: Attributes): readonly PolicyRule[] => {
  if (user.name === 'provider')
    return [...identityRights.clusterWide, ...(identityRights.inNamespace[namespace] ?? [])];
  if (user.groups.includes(joinGroup)) return [requests];
  return user.groups.includes(nodesGroup) ? [requests, nodes, leases] : [];
};

const authorize: Authorize = (attributes) => {
  const isAdmin = attributes.user.groups.includes('system:masters');
  const allowed = isAdmin || rightsOf(attributes).some((right) => covers(right, attributes));
  return { allowed, reason: '' };
};

const embeddedCluster = async (): Promise<JoinableCluster> => {
  const kubernetes = await createKubernetes({ authorize });
  const { handle, identity } = kubernetes;
  const served = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
  const ca = identity.caCertificate;
  const as: JoinableCluster['as'] = (who) =>
    httpsTransport({
      server: served.url,
      ca,
      clock: systemClock,
      credentials: () =>
        'token' in who ? { headers: { authorization: `Bearer ${who.token}` } } : { certificate: who },
    });
  const known = async (commonName: string, organizations: readonly string[]) => {
    const usages = ['client auth', 'digital signature'] as const;
    const { certificate, key } = await identity.issue({ commonName, organizations, usages, seconds: 3600 });
    return as({ cert: certificate, key });
  };
  const admin = await known('admin', ['system:masters']);
  const provider = await known('provider', []);
  return {
    url: served.url,
    ca,
    admin,
    provider,
    as,
    close: async () => {
      admin.close();
      provider.close();
      await served.close();
      kubernetes.stop();
    },
  };
};

runJoinSuite('a Mac joins the embedded Kubernetes', embeddedCluster);
