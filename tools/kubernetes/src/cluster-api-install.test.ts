import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Manifest, manifestsForProcess } from './cluster-api-install.ts';

const server = { url: 'https://127.0.0.1:9443', caCertificate: 'PEM' };
const caBundle = Buffer.from('PEM').toString('base64');
const service = (path: string) => ({ service: { name: 'capi-webhook-service', namespace: 'capi-system', path } });

const applied = (...manifests: Manifest[]): unknown => manifestsForProcess(manifests, server);

test('the Deployments of core are removed, and everything else is unchanged', () => {
  const kept = ['Namespace', 'ServiceAccount', 'Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].map(
    (kind) => ({ kind, metadata: { name: 'x' }, rules: [] }),
  );
  const dropped = ['Certificate', 'Issuer', 'Service', 'Deployment'].map((kind) => ({ kind, metadata: { name: 'x' } }));
  assert.deepEqual(applied(...kept, ...dropped), kept);
});

for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
  test(`every webhook of a ${kind} calls the process, with unchanged failure policy`, () => {
    const webhook = (path: string) => ({ name: path, failurePolicy: 'Fail', clientConfig: service(path) });
    assert.deepEqual(applied({ kind, metadata: { name: 'x' }, webhooks: [webhook('/a'), webhook('/b')] }), [
      {
        kind,
        metadata: { name: 'x' },
        webhooks: [
          { name: '/a', failurePolicy: 'Fail', clientConfig: { url: 'https://127.0.0.1:9443/a', caBundle } },
          { name: '/b', failurePolicy: 'Fail', clientConfig: { url: 'https://127.0.0.1:9443/b', caBundle } },
        ],
      },
    ]);
  });

test('the conversion of a definition calls the process', () => {
  const definition = (clientConfig: object): Manifest => {
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
    return {
      kind: 'CustomResourceDefinition',
      metadata: { name: 'machines' },
      spec: { conversion },
    };
  };
  assert.deepEqual(applied(definition(service('/convert'))), [
    definition({ url: 'https://127.0.0.1:9443/convert', caBundle }),
  ]);
});

test('a definition without conversion is unchanged', () => {
  const definition = {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'x' },
    spec: { conversion: { strategy: 'None' } },
  };
  assert.deepEqual(applied(definition), [definition]);
});

test('a webhook with an address keeps it', () => {
  const webhooks = [{ clientConfig: { url: 'https://elsewhere/', caBundle: 'b' } }];
  const manifest = { kind: 'ValidatingWebhookConfiguration', metadata: { name: 'x' }, webhooks };
  assert.deepEqual(applied(manifest), [manifest]);
});
