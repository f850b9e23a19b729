import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Client,
  clusterRoleBindings,
  clusterRoles,
  createClient,
  customResourceDefinitions,
  httpsTransport,
  leases,
  nodes,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';

const program = join(import.meta.dirname, '../../packages/cli/src/main.ts');

describe('tartan up on an existing cluster', () => {
  let plane: ControlPlane;
  let client: Client;
  let close: () => void;
  before(async () => {
    plane = await startControlPlane({ controllerManager: true, scheduler: true });
    const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = plane;
    const transport = httpsTransport({ server, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
    client = createClient(transport, { clock });
    close = () => transport.close();
  });
  after(async () => {
    close();
    await plane.stop();
  });

  test('runs a Pod as a VM there, and removes everything that it created', async () => {
    const args = ['up', '--once', '--pool', '1', '--machines', '1', '--kubernetes', plane.adminKubeconfigPath];
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.equal(code, 0, output);
    assert.match(output, /The Pod build-1 runs, as a virtual machine/);

    const ours = (name: string): boolean => /tartan|capi|tuist|macos|runners|cluster\.x-k8s\.io/.test(name);
    const left = async (...lists: Promise<{ items: { metadata: { name: string } }[] }>[]): Promise<string[]> =>
      (await Promise.all(lists)).flatMap(({ items }) => items.map(({ metadata }) => metadata.name)).filter(ours);
    assert.deepEqual(
      await left(
        client.list(customResourceDefinitions),
        client.list(nodes),
        client.list(serviceAccounts),
        client.list(secrets),
        client.list(leases),
        client.list(clusterRoles),
        client.list(clusterRoleBindings),
      ),
      [],
    );
  });
});
