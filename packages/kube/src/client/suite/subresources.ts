import assert from 'node:assert/strict';
import { certificateSigningRequests, nodes, pods } from '../../objects/builtin.ts';
import { type Behaviour, defineWidgets, unique, waitForAccount } from './fixture.ts';
import { pod, refused } from './writing.ts';

/** A request for "CN=example"; its private key was discarded. */
const request = `-----BEGIN CERTIFICATE REQUEST-----
MIHNMHQCAQAwEjEQMA4GA1UEAwwHZXhhbXBsZTBZMBMGByqGSM49AgEGCCqGSM49
AwEHA0IABMHX8PeR8ehhfH27veycPgY7PB8Rj0J6f2Be5oiqcVFzMXCF6d7QzEj8
67maytjFZpzqAdwj1myJIRzvR0D4onagADAKBggqhkjOPQQDAgNJADBGAiEAnYVh
xwKRgZfc0K8J16mI6fCG0s48JiNEQaI7oIWOt08CIQCjqHe8qPmiWhzjWiEARCbu
Xa50rhjWIljhHKN6az9WHw==
-----END CERTIFICATE REQUEST-----
`;

export const subresourceBehaviours: readonly Behaviour[] = [
  {
    sentence: 'the scale subresource is read and changed',
    run: async (fixture) => {
      const { client, subresources, namespace } = fixture;
      const { widgets, remove } = await defineWidgets(fixture);
      const name = { namespace, name: 'a' };
      const apiVersion = `${widgets.group}/v1`;
      await client.create(widgets, { apiVersion, kind: 'Widget', metadata: name, spec: { replicas: 2 } });
      const scale = await subresources.getScale(widgets, name);
      assert.equal(scale.spec?.replicas, 2);
      const changed = await subresources.updateScale(widgets, { ...scale, spec: { replicas: 4 } });
      assert.equal(changed.spec?.replicas, 4);
      assert.equal((await client.get(widgets, name)).spec.replicas, 4);
      await refused(subresources.updateScale(widgets, scale), 'conflict');
      await remove();
    },
  },
  {
    sentence: 'a Pod is evicted',
    run: async (fixture) => {
      const { client, subresources, namespace } = fixture;
      await waitForAccount(fixture);
      const name = { namespace, name: 'a' };
      const node = unique('node');
      await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
      const { spec, ...rest } = pod(namespace, 'a');
      await client.create(pods, { ...rest, spec: { containers: [], ...spec, nodeName: node } });
      await subresources.evictPod(name, { dryRun: true });
      assert.equal((await client.get(pods, name)).metadata.deletionTimestamp, undefined);
      await subresources.evictPod(name, { gracePeriodSeconds: 9 });
      assert.equal((await client.get(pods, name)).metadata.deletionGracePeriodSeconds, 9);
      await client.delete(pods, name, { gracePeriodSeconds: 0 });
      await client.delete(nodes, { name: node });
      await refused(subresources.evictPod(name), 'notFound');
    },
  },
  {
    sentence: 'a service account gets a token',
    run: async (fixture) => {
      await waitForAccount(fixture);
      const account = { namespace: fixture.namespace, name: 'default' };
      const token = await fixture.subresources.createToken(account, { expirationSeconds: 600 });
      assert.equal(token.token.split('.').length, 3);
      assert.ok(Date.parse(token.expirationTimestamp) > 0);
      await refused(fixture.subresources.createToken({ ...account, name: 'nobody' }, {}), 'notFound');
    },
  },
  {
    sentence: 'a certificate is approved once',
    run: async ({ client, subresources }) => {
      const created = await client.create(certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: unique('client') },
        spec: {
          request: Buffer.from(request).toString('base64'),
          signerName: 'example.com/nobody',
          usages: ['client auth'],
        },
      });
      const verdict = { type: 'Approved', reason: 'Tested', message: 'By a test' } as const;
      const approved = await subresources.approveCertificate(created, verdict);
      assert.deepEqual(
        approved.status?.conditions?.map(({ type, reason }) => [type, reason]),
        [['Approved', 'Tested']],
      );
      assert.equal(await subresources.approveCertificate(approved, verdict), approved);
      await client.delete(certificateSigningRequests, { name: created.metadata.name });
    },
  },
  {
    sentence: 'logs of a missing Pod fail with the message of the server',
    run: async ({ subresources, namespace }) => {
      const read = async (): Promise<void> => {
        for await (const bytes of subresources.podLogs({ namespace, name: 'b' })) assert.fail(String(bytes));
      };
      await refused(read(), 'notFound', /read pods\/log .*\/b: .*not found/);
    },
  },
];
