import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { definitions, type StructuralSchema } from '@tartan/api/crds';
import { createClient, httpsTransport, type Transport } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';
import { examples } from '../../packages/api/src/crds/suite/examples.ts';
import { runKindSuite } from '../../packages/api/src/crds/suite/run.ts';

const folder = join(import.meta.dirname, '../../packages/api/crds');
const run = promisify(execFile);

const kubectl = async (controlPlane: ControlPlane, ...args: string[]): Promise<string> => {
  const { binaries, adminKubeconfigPath, dir } = controlPlane;
  const common = ['--kubeconfig', adminKubeconfigPath, '--cache-dir', join(dir, 'cache')];
  const { stdout } = await run(binaries.kubectl, [...common, ...args]);
  return stdout;
};

const startWithKinds = async (): Promise<ControlPlane> => {
  const controlPlane = await startControlPlane();
  try {
    await kubectl(controlPlane, 'apply', '-f', folder);
    await kubectl(controlPlane, 'wait', '--for=condition=Established', '--timeout=300s', '-f', folder);
    return controlPlane;
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
};

const transportTo = ({ url, caCertificate, clientCertificate: cert, clientKey: key }: ControlPlane): Transport =>
  httpsTransport({ server: url, ca: caCertificate, clock, credentials: () => ({ certificate: { cert, key } }) });

/** The paths of all objects in a schema. */
const objectsOf = (path: string, schema: StructuralSchema): string[] => [
  ...(schema.properties === undefined ? [] : [path]),
  ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => objectsOf(`${path}.${name}`, field)),
  ...(schema.items === undefined ? [] : objectsOf(path, schema.items)),
];

describe('our kinds on a real API server', () => {
  // Not the shared one: MacHosts are cluster-scoped, and tests must not change definitions in a cluster that others use.
  let started: Promise<ControlPlane> | undefined;
  const controlPlane = (): Promise<ControlPlane> => (started ??= startWithKinds());
  after(async () => (await started)?.stop());

  runKindSuite('it takes and refuses what it should', async () => ({
    transport: transportTo(await controlPlane()),
    close: async () => {},
  }));

  for (const { metadata, spec } of definitions) {
    const schema = spec.versions[0]?.schema?.openAPIV3Schema as StructuralSchema;
    test(`kubectl explains every field of ${spec.names.kind}`, async () => {
      const name = metadata?.name ?? '';
      for (const path of objectsOf(name, schema)) {
        const page = await kubectl(await controlPlane(), 'explain', path);
        if (path === name) assert.ok(page.replaceAll(/\s+/g, ' ').includes(schema.description ?? '?'), page);
        assert.doesNotMatch(page, /<no description>|<empty>/);
      }
    });

    test(`kubectl get shows the columns of ${spec.names.kind}`, async () => {
      const transport = transportTo(await controlPlane());
      const example = examples.find(({ kind }) => kind === spec.names.kind);
      if (example === undefined) throw new Error('There is no example');
      const { resource, make, status, namespaced } = example;
      const client = createClient(transport, { clock });
      const name = { name: 'shown', ...(namespaced ? { namespace: 'default' } : {}) };
      try {
        await client.create(resource, make(name));
        if (status !== undefined) {
          await client.patch(resource, name, { type: 'merge', body: { status } }, { subresource: 'status' });
        }
        const [head = '', row = ''] = (
          await kubectl(await controlPlane(), 'get', spec.names.shortNames?.[0] ?? '', '-o', 'wide')
        ).split('\n');
        const columns = (spec.versions[0]?.additionalPrinterColumns ?? []).map((column) => column.name.toUpperCase());
        assert.deepEqual(head.split(/\s+/), ['NAME', ...columns]);
        assert.doesNotMatch(row, /<none>|<invalid>|<unknown>/);
      } finally {
        await client.delete(resource, name);
        transport.close();
      }
    });
  }
});
