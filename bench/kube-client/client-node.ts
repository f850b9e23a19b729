import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runTask } from './program.ts';

/** The part used here. */
interface ClientNode {
  KubeConfig: new () => { loadFromDefault(): void; makeApiClient(api: unknown): CoreApi };
  CoreV1Api: unknown;
  makeInformer(config: unknown, path: string, list: () => Promise<unknown>): { start(): Promise<void> };
}
interface CoreApi {
  readNode(request: { name: string }): Promise<unknown>;
  listNode(): Promise<{ items: unknown[] }>;
  listNamespacedConfigMap(request: { namespace: string }): Promise<unknown>;
}

const folder = process.env['PEER'] ?? '';
const library = (await import(pathToFileURL(join(folder, 'dist/index.js')).href)) as ClientNode;
const config = new library.KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(library.CoreV1Api);

await runTask({
  get: (name) => core.readNode({ name }),
  listNodes: async () => (await core.listNode()).items,
  follow: (namespace) =>
    library
      .makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
        core.listNamespacedConfigMap({ namespace }),
      )
      .start(),
});
