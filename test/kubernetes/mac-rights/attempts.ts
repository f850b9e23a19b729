import { dispatchAudience } from '@tartan/api';
import {
  certificateSigningRequests,
  configMaps,
  events,
  leases,
  type Live,
  nodes,
  pods,
  secrets,
  type TransportRequest,
} from '@tartan/kube';
import { testDeadline } from '@tartan/kube/testing';
import type { macRights } from '@tartan/provider';
import { kubeletClientSigner } from '../../../packages/provider/src/identity/names.ts';
import { makeCSR, subjectOf } from '../../../packages/provider/src/identity/testing/make-csr.ts';
import type { TwoMacs } from './harness.ts';

type Pod = Live<NonNullable<(typeof pods)['ofType']>>;

/** What a Mac tries, in words, and how. */
type Attempt = readonly [what: string, how: () => Promise<unknown>];

interface Tries {
  /** What it does in normal operation. */
  readonly may: readonly Attempt[];
  /** What it could do to others with slightly more rights. */
  readonly mayNot: readonly Attempt[];
}

/** Requests a client certificate of that Node. */
export const askFor = (client: TwoMacs['mac']['client'], nodeName: string) =>
  client.create(certificateSigningRequests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { generateName: 'tartan-rights-' },
    spec: {
      request: makeCSR({ subject: subjectOf(nodeName) }),
      signerName: kubeletClientSigner,
      usages: ['client auth', 'digital signature'],
      expirationSeconds: 3600,
    },
  });

const merge = (body: object) => ({ type: 'merge', body }) as const;

/** Every right of a Mac, and its opposite. The first attempts create what later ones use. */
export const attemptsOf = (
  harness: TwoMacs,
  { own, foreign }: { own: Pod; foreign: Pod },
): Record<keyof typeof macRights, Tries> => {
  const { mac, mine, theirs, jobs, provider, here } = harness;
  const { client, subresources } = mac;
  const post = async (path: string, body: object): Promise<void> => {
    const request: TransportRequest = {
      method: 'POST',
      path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: testDeadline(),
    };
    const { code, body: answer } = await mac.transport.send(request);
    for await (const _ of answer);
    if (code >= 300) throw new Error(`code ${code}`);
  };
  const lease = (name: string) => here(name, 'kube-node-lease');
  const labelled = merge({ metadata: { labels: { 'tuist.dev/golden-a': 'true' } } });
  const phase = merge({ status: { phase: 'Running' } });
  const tokenFor = (pod: Pod, account: string, audience: string) =>
    subresources.createToken(here(account), {
      audiences: [audience],
      expirationSeconds: 600,
      boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: pod.metadata.name, uid: pod.metadata.uid },
    });
  const eventIn = (namespace: string) =>
    client.create(events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { generateName: 'tartan-', namespace },
      involvedObject: { kind: 'Pod', namespace, name: 'own' },
      reason: 'Test',
      message: 'A test.',
      type: 'Normal',
    });

  return {
    itsNode: {
      may: [
        ['read its Node', () => client.get(nodes, { name: mine })],
        ['list its Node', () => client.list(nodes, { fieldSelector: `metadata.name=${mine}` })],
        ['label its Node', () => client.patch(nodes, { name: mine }, labelled)],
        [
          'say how its Node is',
          () => client.patch(nodes, { name: mine }, merge({ status: {} }), { subresource: 'status' }),
        ],
      ],
      mayNot: [
        [
          'make another Node',
          () => client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: `x-${mine}` } }),
        ],
        ['label another Node', () => client.patch(nodes, { name: theirs }, labelled)],
        ['cordon another Node', () => client.patch(nodes, { name: theirs }, merge({ spec: { unschedulable: true } }))],
        [
          'speak for another Node',
          () => client.patch(nodes, { name: theirs }, merge({ status: {} }), { subresource: 'status' }),
        ],
        ['delete another Node', () => client.delete(nodes, { name: theirs })],
        [
          'change its own taints',
          () => client.patch(nodes, { name: mine }, merge({ spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } })),
        ],
        ['list all Nodes', () => client.list(nodes)],
      ],
    },
    itsLease: {
      may: [
        [
          'make its Lease',
          () =>
            client.create(leases, {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: lease(mine),
              spec: { holderIdentity: mine },
            }),
        ],
        ['renew its Lease', async () => client.update(leases, await client.get(leases, lease(mine)))],
      ],
      mayNot: [
        [
          'make a Lease of another name',
          () =>
            client.create(leases, {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: lease(`x-${mine}`),
            }),
        ],
        [
          'renew the Lease of another Node',
          async () => client.update(leases, await harness.admin.client.get(leases, lease(theirs))),
        ],
        ['delete the Lease of another Node', () => client.delete(leases, lease(theirs))],
        [
          'make a Lease elsewhere',
          () =>
            client.create(leases, {
              apiVersion: 'coordination.k8s.io/v1',
              kind: 'Lease',
              metadata: here(mine, provider),
            }),
        ],
      ],
    },
    itsPods: {
      may: [
        ['read its Pod', () => client.get(pods, here('own'))],
        ['list its Pods', () => client.list(pods, { fieldSelector: `spec.nodeName=${mine}` })],
      ],
      mayNot: [
        ['read a foreign Pod', () => client.get(pods, here('foreign'))],
        ['list all Pods', () => client.list(pods)],
        ['list the Pods of another Node', () => client.list(pods, { fieldSelector: `spec.nodeName=${theirs}` })],
        ['delete a foreign Pod', () => client.delete(pods, here('foreign'), { gracePeriodSeconds: 0 })],
        ['write its own Pod', () => client.patch(pods, here('own'), merge({ metadata: { labels: { a: 'b' } } }))],
        [
          'make a Pod for itself, with a Secret of its choice',
          () =>
            client.create(pods, {
              apiVersion: 'v1',
              kind: 'Pod',
              metadata: here('spy'),
              spec: {
                nodeName: mine,
                containers: [{ name: 'a', image: 'a', envFrom: [{ secretRef: { name: 'unused' } }] }],
              },
            }),
        ],
      ],
    },
    statusOfItsPods: {
      may: [['say how its Pod is', () => client.patch(pods, here('own'), phase, { subresource: 'status' })]],
      mayNot: [
        ['say how a foreign Pod is', () => client.patch(pods, here('foreign'), phase, { subresource: 'status' })],
      ],
    },
    secretsOfItsPods: {
      may: [
        ['read the Secret of its Pod', () => client.get(secrets, here('mine'))],
        ['read the ConfigMap of its Pod', () => client.get(configMaps, here('settings'))],
      ],
      mayNot: [
        ['read the Secret of a foreign Pod', () => client.get(secrets, here('theirs'))],
        ['read a Secret that no Pod names', () => client.get(secrets, here('unused'))],
        ['read a Secret of the provider', () => client.get(secrets, here('ssh-keys', provider))],
        [
          'read the token of a Mac that joins',
          () => client.get(secrets, here(`bootstrap-token-${harness.token.tokenID}`, 'kube-system')),
        ],
        ['list Secrets', () => client.list(secrets, { namespace: jobs })],
        ['list Secrets of the provider', () => client.list(secrets, { namespace: provider })],
        ['list Secrets everywhere', () => client.list(secrets)],
        ['write the Secret of its Pod', () => client.patch(secrets, here('mine'), merge({ data: { a: 'eA==' } }))],
      ],
    },
    tokensOfItsPods: {
      may: [['get the token that its Pod names', () => tokenFor(own, 'robot', dispatchAudience)]],
      mayNot: [
        ['get a token for a foreign Pod', () => tokenFor(foreign, 'robot', dispatchAudience)],
        ['get a token for an audience that its Pod does not name', () => tokenFor(own, 'robot', 'vault')],
        ['get a token of another ServiceAccount', () => tokenFor(own, 'elsewhere', dispatchAudience)],
        [
          'get a token that is bound to no Pod',
          () => subresources.createToken(here('robot'), { audiences: [dispatchAudience] }),
        ],
        ['get a token of the provider', () => subresources.createToken(here('default', provider), {})],
      ],
    },
    certificates: {
      may: [['ask for its next certificate', () => askFor(client, mine)]],
      mayNot: [
        [
          'approve a request, be it its own',
          async () => {
            const request = await askFor(client, mine);
            await subresources.approveCertificate(request, { type: 'Approved', reason: 'Mine', message: 'Mine.' });
          },
        ],
        ['ask for a certificate of another Node', () => askFor(client, theirs)],
      ],
    },
    reviews: {
      may: [
        [
          'ask whether somebody may do something',
          () => {
            const resourceAttributes = { verb: 'get', resource: 'nodes', subresource: 'proxy', name: mine };
            const spec = { user: 'x', resourceAttributes };
            return post('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
              apiVersion: 'authorization.k8s.io/v1',
              kind: 'SubjectAccessReview',
              spec,
            });
          },
        ],
        [
          'ask whose token that is',
          () =>
            post('/apis/authentication.k8s.io/v1/tokenreviews', {
              apiVersion: 'authentication.k8s.io/v1',
              kind: 'TokenReview',
              spec: { token: 'x' },
            }),
        ],
      ],
      mayNot: [],
    },
    events: {
      may: [['emit events about its Pod', () => eventIn(jobs)]],
      mayNot: [['list events', () => client.list(events)]],
    },
  };
};
