import {
  configMaps,
  createClient,
  createLogger,
  createInformer,
  httpsTransport,
  loadConfig,
  nodes,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { runTask } from './program.ts';

const clock = systemClock;
const config = await loadConfig({ env: process.env, clock });
const client = createClient(httpsTransport({ ...config, clock }), { clock });
const log = createLogger({ clock, write: (line) => process.stderr.write(line), level: 'warn' });

await runTask({
  get: (name) => client.get(nodes, { name }),
  listNodes: async () => (await client.list(nodes, { pageSize: 5_000 })).items,
  follow: async (namespace) => {
    const cache = createInformer({ client, resource: configMaps, namespace, clock, random: Math.random, log });
    void cache.run(new AbortController().signal);
    await cache.synced;
  },
});
