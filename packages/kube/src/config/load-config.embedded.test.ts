import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { createClient } from '../client/create-client.ts';
import { systemClock } from '../clock/clock.ts';
import { namespaces } from '../objects/builtin.ts';
import { httpsTransport } from '../transport/https-transport.ts';
import { loadConfig } from './load-config.ts';

test('a loaded configuration authenticates to a server', async () => {
  const kubernetes = await createKubernetes();
  const { handle, identity } = kubernetes;
  const served = await serve({ handle, identity });
  try {
    const kubeconfig = await adminKubeconfig(identity, served.url);
    const readFile = () => Promise.resolve(kubeconfig);
    const config = await loadConfig({ env: {}, clock: systemClock, kubeconfigPath: '/k', readFile });
    const transport = httpsTransport({ ...config, clock: systemClock });
    const client = createClient(transport, { clock: systemClock });
    assert.equal((await client.get(namespaces, { name: 'default' })).metadata.name, 'default');
    transport.close();
  } finally {
    await served.close();
    kubernetes.stop();
  }
});
